// The promises of the memory contract, as users of tensors meet them.
#include <atomic>
#include <cstdlib>

#include "plimsoll/bytes.h"
#include "plimsoll/device.h"
#include "plimsoll/function.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kMiBFloats = 1 << 18;  // elements of float32 in 1 MiB

class LimitsTest : public FreshTest {
 protected:
  static void limit(const config::PhysicalDevice& device, std::int64_t mib) {
    config::set_logical_device_configuration(device, {{.memory_limit = mib}});
  }
  static std::uint64_t used(const char* device = "CPU:0") {
    return config::get_memory_info(device).current;
  }
  static Tensor megabytes(std::int64_t n) { return ones({n, kMiBFloats}); }
  // Fills a device with tensors of 64 bytes until it is full; they go when this returns.
  static void make_history(std::int64_t num_tensors) {
    std::vector<Tensor> kept;
    for (std::int64_t i = 0; i < num_tensors; ++i) {
      Tensor t = ones({(i * 37 % 4096) + 1});
      if (i % 3) kept.push_back(t);
    }
  }
};

// P1 and B3: to the byte, whoever set the limit.
void expect_limit_to_the_byte(std::uint64_t limit) {
  {
    const Tensor all = zeros({static_cast<std::int64_t>(limit)}, DType::kUInt8);
    EXPECT_EQ(config::get_memory_info("CPU:0").current, limit);
    EXPECT_THROW(zeros({1}), ResourceExhaustedError);
  }
  EXPECT_EQ(config::get_memory_info("CPU:0").current, 0U);
  EXPECT_THROW(zeros({static_cast<std::int64_t>(limit) + 1}, DType::kUInt8),
               ResourceExhaustedError);
  EXPECT_EQ(config::get_memory_info("CPU:0").current, 0U);
  EXPECT_EQ(config::get_memory_info("CPU:0").peak, limit);
}

TEST_F(LimitsTest, CpuLimitByTensorFlowsVariable) {
  setenv("TF_CPU_ALLOCATOR_MEM_LIMIT", "10000064", 1);
  expect_limit_to_the_byte(10'000'064);
}

TEST_F(LimitsTest, ALimitOfARunningDevice) {
  const Tensor kept = megabytes(2);
  memory::set_limit("CPU:0", 4_MiB, "the test");
  EXPECT_EQ(memory::stats("CPU:0").limit, 4_MiB);
  EXPECT_EQ(memory::stats("CPU:0").origin, "the test");
  EXPECT_THROW(megabytes(3), ResourceExhaustedError);
  EXPECT_THROW(memory::set_limit("CPU:0", 1_MiB, "the test"), FailedPreconditionError);
  EXPECT_THROW(memory::set_limit("GPU:7", 1_MiB, "the test"), InvalidArgumentError);
  memory::set_limit("CPU:0", 8_MiB, "the test");
  EXPECT_EQ(megabytes(3).shape().dim(0), 3);
}

TEST_F(LimitsTest, CpuLimitByVariable) {
  setenv("PLIMSOLL_CPU_LIMIT", "64MiB", 1);
  expect_limit_to_the_byte(64_MiB);
}

TEST_F(LimitsTest, CpuLimitByCall) {
  limit(cpu(), 16);
  expect_limit_to_the_byte(16_MiB);
}

TEST_F(LimitsTest, ProcessBudgetByCall) {
  memory::set_budget("8MiB");
  EXPECT_EQ(memory::get_budget(), 8_MiB);
  expect_limit_to_the_byte(8_MiB);
}

TEST_F(LimitsTest, ProcessBudgetByVariable) {
  setenv("PLIMSOLL_BUDGET", "8MiB", 1);
  EXPECT_EQ(memory::get_budget(), 8_MiB);
  expect_limit_to_the_byte(8_MiB);
}

TEST_F(LimitsTest, ProcessBudgetChangesWhileRunning) {
  EXPECT_EQ(memory::get_budget(), std::nullopt);
  const Tensor x = megabytes(4);
  memory::set_budget(6_MiB);
  EXPECT_THROW(megabytes(3), ResourceExhaustedError);
  EXPECT_THROW(memory::set_budget(3_MiB), FailedPreconditionError);
  EXPECT_THROW(memory::set_budget("3 potatoes"), InvalidArgumentError);
  EXPECT_THROW(memory::set_budget(std::uint64_t{0}), InvalidArgumentError);
  EXPECT_EQ(memory::get_budget(), 6_MiB);
  memory::set_budget("7MiB");
  EXPECT_NO_THROW(megabytes(3));
}

TEST_F(LimitsTest, UnsetTheCpuHasTheMachinesRoom) {
  megabytes(1);
  const memory::BudgetStats stats = memory::stats("CPU:0");
  EXPECT_LT(stats.limit, memory::kNoLimit);
  EXPECT_NE(stats.origin.find("90 %"), std::string::npos) << stats.origin;
}

TEST_F(LimitsTest, NeverPassesTheLimitUnderThreads) {
  limit(cpu(), 8);
  std::vector<std::thread> threads;
  std::atomic<int> num_refused{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<Tensor> kept;
      for (int i = 0; i < 400; ++i) {
        try {
          kept.push_back(ones({(i * 7919) % 100'000 + 1}));
        } catch (const ResourceExhaustedError&) {
          ++num_refused;
          kept.clear();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(num_refused, 0);
  EXPECT_LE(config::get_memory_info("CPU:0").peak, 8_MiB);
  EXPECT_EQ(used(), 0U);
}

// B2: while one thread is refused again and again, another goes on freeing.
TEST_F(LimitsTest, RefusalsHoldNobodyUp) {
  limit(cpu(), 64);
  const Tensor held = megabytes(32);
  std::atomic<bool> is_done{false};
  std::atomic<int> num_refused{0};
  std::thread refused([&] {
    while (!is_done) {
      EXPECT_THROW(megabytes(64), ResourceExhaustedError);
      ++num_refused;
    }
  });
  while (num_refused == 0) std::this_thread::yield();
  const int before = num_refused;
  int num_freed = 0;
  // Each of them has to see a refusal come and go: TensorFlow waits ten seconds in each.
  for (; num_freed < 200 || num_refused < before + 200; ++num_freed) megabytes(1);
  is_done = true;
  refused.join();
  EXPECT_GE(num_freed, 200);
}

// B4 and P4: what is deleted is back, in the books at once and in the system soon.
TEST_F(LimitsTest, DeletedMemoryReturns) {
  megabytes(1);
  memory::trim();
  const std::uint64_t resident = memory::resident_bytes();
  {
    const Tensor x = megabytes(256);
    const Tensor y = x + x;
    EXPECT_EQ(used(), 512_MiB);
    if (memory::kHasOwnMemory) {
      EXPECT_GT(memory::resident_bytes(), resident + 500_MiB);
    }
  }
  EXPECT_EQ(used(), 0U);
  if (memory::kHasOwnMemory) {
    EXPECT_TRUE(soon([&] { return memory::resident_bytes() < resident + 16_MiB; }));
  }
}

TEST_F(LimitsTest, TrimReturnsAtOnce) {
  megabytes(1);
  memory::trim();
  const std::uint64_t resident = memory::resident_bytes();
  megabytes(128);
  EXPECT_GE(memory::trim(), 128_MiB);
  EXPECT_EQ(memory::stats().committed, 0U);
  if (memory::kHasOwnMemory) {
    EXPECT_LT(memory::resident_bytes(), resident + 16_MiB);
  }
}

TEST_F(LimitsTest, TrimDropsIdleArenas) {
  const Tensor x = megabytes(1);
  auto f = function([](const Tensor& t) { return reduce_sum(square(t) * square(t + 1.0F)); });
  const float wanted = f(x).item<float>();
  EXPECT_GT(used(), 2_MiB);  // the arena waits for the next call
  EXPECT_GE(memory::trim(), 1_MiB);
  EXPECT_LT(used(), 1_MiB + 4_KiB);  // x, and what the function keeps: a number, a kernel
  EXPECT_EQ(f(x).item<float>(), wanted);
}

// B5: TensorFlow gets 300 MiB into 1 GiB after such a history.
TEST_F(LimitsTest, WholeLimitIsUsableOnTheCpu) {
  limit(cpu(), 1024);
  make_history(20'000);
  const Tensor a = megabytes(300), b = megabytes(300), c = megabytes(300);
  EXPECT_EQ(used(), 900_MiB);
  const Tensor d = megabytes(124);
  EXPECT_EQ(used(), 1_GiB);
}

TEST_F(LimitsTest, WholeLimitIsUsableOnAGpu) {
  simulate("rtx-3060-12gb");
  limit(gpu(), 1024);
  make_history(20'000);
  const Tensor a = megabytes(300), b = megabytes(300), c = megabytes(300);
  EXPECT_EQ(used("GPU:0"), 900_MiB);
  const Tensor d = megabytes(124);
  EXPECT_EQ(used("GPU:0"), 1_GiB);
}

// B9: equal to the byte, the small ones included.
TEST_F(LimitsTest, MemoryInfoIsTrue) {
  simulate("rtx-3060-12gb");
  for (const char* name : {"CPU:0", "GPU:0"}) {
    const auto scope = device(name);
    std::vector<Tensor> kept;
    std::uint64_t wanted = 0;
    for (const std::int64_t n : {1, 3, 16, 17, 1000, 65'536, 1'000'001}) {
      kept.push_back(ones({n}));
      wanted += (static_cast<std::uint64_t>(n) * 4 + 63) / 64 * 64;
      EXPECT_EQ(used(name), wanted) << name << " " << n;
    }
    kept.clear();
    EXPECT_EQ(config::get_memory_info(name).current, 0U);
    EXPECT_EQ(config::get_memory_info(name).peak, wanted);
    config::reset_memory_stats(name);
    EXPECT_EQ(config::get_memory_info(name).peak, 0U);
  }
}

// B14: the message says what was asked, by whom, of what, and who holds it.
TEST_F(LimitsTest, MessageSaysWhatIsNeededToAct) {
  limit(cpu(), 4);
  const Variable weights(megabytes(2), {.name = "dense/kernel"});
  const auto message = message_of<ResourceExhaustedError>([] { megabytes(3); });
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "OOM when allocating tensor with shape[3,262144] and type float on "
            "/job:localhost/replica:0/task:0/device:CPU:0 by allocator plimsoll");
  for (const char* part :
       {"3.0 MiB asked for activations 'Fill'", "limit 4.0 MiB", "memory_limit of CPU:0",
        "in use 2.0 MiB (weights 2.0 MiB)", "largest free 2.0 MiB"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in\n" << message;
  }
}

TEST_F(LimitsTest, AThousandRefusalsLeaveNothingBehind) {
  limit(cpu(), 32);
  const Tensor held = megabytes(20);
  const auto refuse = [] {
    try {
      megabytes(16);
      FAIL() << "it fitted";
    } catch (const ResourceExhaustedError&) {
    }
  };
  for (int i = 0; i < 10; ++i) refuse();
  const std::uint64_t before = used();
  const std::uint64_t resident = memory::resident_bytes();
  for (int i = 0; i < 1000; ++i) refuse();
  EXPECT_EQ(used(), before);
  if (memory::kHasOwnMemory) {
    EXPECT_LT(memory::resident_bytes(), resident + 1_MiB);
  }
  EXPECT_EQ(memory::stats("CPU:0").refused, 1010U);
  EXPECT_NO_THROW(megabytes(12));  // the same call with less works
}

// P3: a refused update leaves the variable as it was.
TEST_F(LimitsTest, RefusedUpdatesChangeNothing) {
  limit(cpu(), 4);
  Variable v(megabytes(2), {.name = "v"});
  const Tensor seen = v.value();  // so that an update needs a copy
  const Tensor delta = megabytes(1);
  Variable small(delta, {.name = "small"});
  EXPECT_THROW(v.assign_add(seen), ResourceExhaustedError);
  EXPECT_THROW(v.assign(seen), ResourceExhaustedError);
  EXPECT_EQ(v.value().to_vector<float>()[7], 1.0F);
  EXPECT_EQ(used(), 4_MiB);
}

// B1: what no machine has is an error like any other.
TEST_F(LimitsTest, FourTebibytesAreRefused) {
  EXPECT_THROW(ones({1 << 20, 1 << 20}), ResourceExhaustedError);
  const Tensor x = ones({1 << 20, 1}), y = ones({1, 1 << 20});
  EXPECT_THROW(x + y, ResourceExhaustedError);
  EXPECT_THROW(matmul(x, y), ResourceExhaustedError);
  const memory::TagBytes by_tag = memory::stats("CPU:0").by_tag;  // a prepared kernel may stay
  EXPECT_EQ(by_tag[static_cast<std::size_t>(memory::Tag::kActivations)], 8_MiB);
  EXPECT_EQ(by_tag[static_cast<std::size_t>(memory::Tag::kWorkspace)], 0U);
}

// B7: a constant is copied once, to whatever device.
TEST_F(LimitsTest, ConstantsAreCopiedOnce) {
  simulate("rtx-3060-12gb");
  const std::vector<float> values(16 * kMiBFloats, 1.0F);
  for (const char* name : {"CPU:0", "GPU:0"}) {
    const auto scope = device(name);
    const Tensor x = constant(std::span<const float>(values), {16, kMiBFloats});
    EXPECT_EQ(config::get_memory_info(name).peak, 16_MiB) << name;
  }
  // Besides it there is only the piece of staging through which it went to the GPU.
  EXPECT_LE(memory::stats().peak, 16_MiB + 4_MiB);
}

// P8: the rows of the report add up to the total, whatever holds memory.
TEST_F(LimitsTest, ReportAddsUp) {
  simulate("rtx-3060-12gb,jetson-nano-4gb");
  limit(gpu(0), 64);
  config::set_memory_growth(gpu(0), false);
  const Variable weights(megabytes(2), {.name = "dense/kernel"});
  const Tensor on_gpu = megabytes(3);
  Tensor on_cpu, in_scope;
  {
    const auto scope = device("/CPU:0");
    on_cpu = megabytes(5);
    const memory::BudgetScope budget("8MiB");
    in_scope = megabytes(7);
  }
  const memory::Report report = memory::report();
  std::uint64_t sum = 0, on_gpu0 = 0;
  bool has_weights = false, has_scope = false;
  for (const memory::ReportRow& row : report.rows) {
    sum += row.nbytes;
    if (row.device == "GPU:0") on_gpu0 += row.nbytes;
    has_weights |= row.owner == "dense/kernel" && row.tag == memory::Tag::kWeights &&
                   row.nbytes == 2_MiB && row.device == "GPU:0";
    has_scope |= row.budget == "CPU:0/scope" && row.device == "CPU:0" && row.nbytes == 7_MiB;
  }
  EXPECT_EQ(sum, report.total);
  EXPECT_EQ(report.total, memory::stats().in_use);
  EXPECT_EQ(report.total, 64_MiB + 12_MiB);
  EXPECT_EQ(on_gpu0, 64_MiB);  // taken up front: all of it has a row
  EXPECT_TRUE(has_weights && has_scope) << report.to_string();
  EXPECT_NE(report.to_string().find("dense/kernel"), std::string::npos);
  EXPECT_NE(report.to_json().find("\"owner\": \"dense/kernel\""), std::string::npos);
}

}  // namespace
}  // namespace plimsoll

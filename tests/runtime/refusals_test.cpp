// Memory that ends, in the ops where TensorFlow ends with it; and what ops cost beside their
// result.
#include <algorithm>
#include <chrono>

#include "plimsoll/bytes.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

class RefusalsTest : public FreshTest {
 protected:
  static void limit(std::int64_t mib) {
    config::set_logical_device_configuration(cpu(), {{.memory_limit = mib}});
  }
  static std::uint64_t used() { return memory::stats("CPU:0").in_use; }
};

// B1: each of these is a SIGSEGV in TensorFlow. Wherever memory ends on the way, forward or
// backward, it is an error, and afterwards the same call with enough of it works.
TEST_F(RefusalsTest, ConvolutionsAndNormsWhereverMemoryEnds) {
  limit(512);
  const Tensor image = ones({2, 32, 32, 16}), filter = ones({3, 3, 16, 16});
  const Tensor per_channel = ones({3, 3, 16, 1}), scale = ones({16}), offset = zeros({16});
  const std::pair<const char*, std::function<Tensor()>> calls[] = {
      {"conv2d", [&] { return nn::conv2d(image, filter, 1, "SAME"); }},
      {"depthwise_conv2d", [&] { return nn::depthwise_conv2d(image, per_channel, 1, "SAME"); }},
      {"batch_norm", [&] { return nn::batch_norm(image, scale, offset).y; }},
      {"max_pool2d", [&] { return nn::max_pool2d(image, 2, 2, "VALID"); }},
  };
  memory::Budget budget = Context::get().cpu().budget();
  for (const auto& [name, call] : calls) {
    const auto step = [&] {
      GradientTape tape;
      for (const Tensor* t : {&image, &filter, &per_channel, &scale, &offset}) tape.watch(*t);
      const Tensor loss = reduce_sum(square(call()));
      const Tensor sources[] = {image, filter, per_channel, scale, offset};
      tape.gradient({&loss, 1}, sources);
    };
    step();  // kernels are prepared now
    const std::uint64_t before = used();
    budget.reset_peak();
    step();
    const std::uint64_t needed = budget.peak() - before;
    for (std::uint64_t room = 0; room < needed; room += std::max<std::uint64_t>(64, needed / 64)) {
      budget.set_limit(before + room);
      EXPECT_THROW(step(), ResourceExhaustedError) << name << " with " << room << " of " << needed;
      EXPECT_EQ(used(), before) << name;
    }
    budget.set_limit(before + needed);
    EXPECT_NO_THROW(step()) << name;
    budget.set_limit(512_MiB);
  }
}

TEST_F(RefusalsTest, ConvolutionOf32GiB) {
  limit(256);
  const Tensor image = zeros({64, 512, 512, 1}), filter = zeros({1, 1, 1, 512});
  const auto message =
      message_of<ResourceExhaustedError>([&] { nn::conv2d(image, filter, 1, "SAME"); });
  EXPECT_NE(message.find("32.0 GiB asked for activations 'Conv2D'"), std::string::npos) << message;
  EXPECT_NO_THROW(nn::conv2d(ones({1, 8, 8, 1}), filter, 1, "SAME"));
}

TEST_F(RefusalsTest, ConstantsThatDoNotFit) {
  limit(1);
  const std::vector<float> values(1 << 20);
  const auto make = [&] { return constant(std::span<const float>(values), {1 << 20}); };
  EXPECT_THROW(make(), ResourceExhaustedError);
  EXPECT_EQ(used(), 0U);
}

// B2: TensorFlow takes ten seconds to say no.
TEST_F(RefusalsTest, ComeAtOnce) {
  limit(64);
  std::vector<Tensor> kept;
  for (int i = 0; i < 1000; ++i) kept.push_back(ones({i + 1}));
  std::vector<double> ms;
  for (int i = 0; i < 101; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(ones({64, 1 << 20}), ResourceExhaustedError);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    ms.push_back(took.count());
  }
  std::ranges::nth_element(ms, ms.begin() + 50);
  EXPECT_LT(ms[50], 10);
}

// B17: in TensorFlow, normal numbers cost more than three times their bytes.
TEST_F(RefusalsTest, RandomNumbersCostTheirResult) {
  ones({1});
  const Shape shape = {64, 1 << 18};  // 64 MiB
  const std::pair<const char*, std::function<Tensor()>> calls[] = {
      {"uniform", [&] { return random::uniform(shape); }},
      {"normal", [&] { return random::normal(shape); }},
      {"truncated_normal", [&] { return random::truncated_normal(shape); }},
      {"stateless_normal",
       [&] {
         return random::stateless_normal(shape, {1, 2});
       }},
  };
  for (const auto& [name, call] : calls) {
    config::reset_memory_stats("CPU:0");
    const std::uint64_t resident = memory::resident_bytes();
    const Tensor x = call();
    EXPECT_LE(config::get_memory_info("CPU:0").peak, 64_MiB + 1_KiB) << name;
    if (memory::kHasOwnMemory) {
      EXPECT_LE(memory::resident_bytes(), resident + 64_MiB + 4_MiB) << name;
    }
  }
}

// Strings are not in the memory that kernels read, whichever input they are.
TEST_F(RefusalsTest, StringsReachNoKernel) {
  const Tensor words = constant({std::string("a"), std::string("b")}, {2});
  const Tensor rows = constant({0, 1}, {2, 1});
  EXPECT_THROW(scatter_nd(rows, words, {4}), UnimplementedError);
  EXPECT_THROW(words * words, UnimplementedError);
  EXPECT_THROW(less(words, words), UnimplementedError);
  EXPECT_THROW(reduce_max(words), UnimplementedError);
  EXPECT_THROW(tensor_scatter_nd_add(words, rows, words), UnimplementedError);
  EXPECT_EQ(where(constant({true, false}), words, words).to_vector<std::string>(),
            words.to_vector<std::string>());  // by numbers of strings (string_ops.h)
  EXPECT_EQ(reshape(words, {2, 1}).to_vector<std::string>(), words.to_vector<std::string>());
  EXPECT_EQ((words + words).to_vector<std::string>(), (std::vector<std::string>{"aa", "bb"}));
}

}  // namespace
}  // namespace plimsoll

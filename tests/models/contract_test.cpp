// The contract on whole models: the peak is what the plan says (P2), a second step allocates
// nothing (P7), and the process grows by no more than the plan (P10).
#include <gtest/gtest.h>
#include <link.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "memory/process_memory.h"
#include "models/models.h"
#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/settings.h"
#include "runtime/measure.h"

// Every operator new of this program counts, those of oneDNN apart.
static std::atomic<std::uint64_t> num_news{0};
static std::atomic<std::uint64_t> num_library_news{0};

// The code of oneDNN in this process.
struct Range {
  std::uintptr_t begin = 0, end = 0;
};
static Range find_onednn() {
  Range found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        if (!std::strstr(info->dlpi_name, "libdnnl")) return 0;
        auto* range = static_cast<Range*>(to);
        range->begin = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          range->end =
              std::max<std::uintptr_t>(range->end, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                                                       info->dlpi_phdr[i].p_memsz);
        }
        return 1;
      },
      &found);
  return found;
}

static void* counted(std::size_t size, std::size_t alignment, const void* caller) {
  static const Range onednn = find_onednn();
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  const bool is_library = at >= onednn.begin && at < onednn.end;
  (is_library ? num_library_news : num_news).fetch_add(1, std::memory_order_relaxed);
  size = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (void* made = std::aligned_alloc(alignment, size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t), __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // the pair is above
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
#pragma GCC diagnostic pop

namespace plimsoll::bench {
namespace {

struct Case {
  const char* model;
  int batch;
  const char* optimizer;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.model << " " << c.optimizer;
}
std::string case_name(const testing::TestParamInfo<Case>& c) {
  return std::string(c.param.model) + "_" + c.param.optimizer;
}

class ContractTest : public testing::TestWithParam<Case> {
 protected:
  Model model_ =
      make_model(GetParam().model, GetParam().batch, {.optimizer = GetParam().optimizer});
  std::vector<Tensor> loss_{1};
  void step() { model_.step.run(model_.inputs, loss_); }
};

INSTANTIATE_TEST_SUITE_P(All, ContractTest,
                         testing::Values(Case{"mlp", 128, "sgd"}, Case{"mlp", 128, "adam"},
                                         Case{"cnn", 16, "sgd"}, Case{"cnn", 16, "adam"},
                                         Case{"transformer", 2, "sgd"},
                                         Case{"transformer", 2, "adam"}, Case{"lstm", 4, "sgd"},
                                         Case{"lstm", 4, "adam"}, Case{"mobilenet_v2", 1, "sgd"},
                                         Case{"mobilenet_v2", 1, "adam"},
                                         Case{"resnet50", 1, "sgd"}, Case{"resnet50", 1, "adam"}),
                         case_name);

// The height that a run writes for sure: all of it, unless what is on top is scratch, of which a
// kernel may leave the end as it was.
std::uint64_t must_be_written(const MemoryPlan& plan) {
  std::uint64_t height = 0, scratch = 0;
  for (const PlannedBuffer& b : plan.buffers) {
    if (b.place == PlannedBuffer::Place::kArena) height = std::max(height, b.offset + b.nbytes);
    if (b.place == PlannedBuffer::Place::kScratch) scratch = std::max(scratch, b.offset + 1);
  }
  return std::max(height, scratch);
}

TEST_P(ContractTest, ThePeakIsKnownBeforeTheRun) {
  const MemoryPlan plan = model_.step.plan(model_.input_specs);
  EXPECT_LE(static_cast<double>(plan.arena_bytes),
            1.01 * static_cast<double>(plan.lower_bound_bytes));
  step();  // kernels are prepared, threads are there
  const std::uint64_t written = measure_written_height(model_.step, model_.inputs, loss_);
  EXPECT_LE(written, plan.arena_bytes);
  EXPECT_GE(written, must_be_written(plan));

  const std::uint64_t malloced = mallinfo2().uordblks + mallinfo2().hblkhd;
  config::reset_memory_stats("CPU:0");
  step();
  const auto stats = memory::stats("CPU:0");
  EXPECT_EQ(stats.peak, stats.in_use);  // all of it was held already
  const std::uint64_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(after, malloced + 64_KiB);
}

TEST_P(ContractTest, ASecondStepAllocatesNothing) {
  step();
  const std::uint64_t count = memory::stats("CPU:0").count;
  for (int i = 2; i <= 10; ++i) {
    const std::uint64_t before = num_news;
    step();
    EXPECT_EQ(num_news - before, 0U) << "step " << i;
  }
  EXPECT_EQ(memory::stats("CPU:0").count, count);
}

// P10, with a model that fills memory. Sanitizers have memory of their own.
TEST(ResidentModelTest, GrowsByNoMoreThanThePlan) {
  if (!memory::kHasOwnMemory) return;
  const std::uint64_t before = memory::resident_bytes();
  const Model model = make_model("resnet50", 32);
  const MemoryPlan plan = model.step.plan(model.input_specs);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
  std::vector<Tensor> loss(1);
  model.step.run(model.inputs, loss);
  const std::uint64_t peak = memory::kb_field("/proc/self/status", "VmHWM:");
  const std::uint64_t files = memory::kb_field("/proc/self/status", "RssFile:");
  EXPECT_LE(peak - files, before + plan.peak_bytes + 48_MiB);
}

// B15: what was traced and dropped is gone.
TEST(RetraceTest, AThousandTracesLeaveMemoryFlat) {
  Variable w(ones({8, 8}));
  const auto trace_many = [&](int first, int num) {
    auto f = function([&](const Tensor& x) { return reduce_sum(nn::relu(matmul(x, w))); },
                      {.max_traces = 8});
    for (int i = first; i < first + num; ++i) f(ones({1 + i, 8}));
    EXPECT_EQ(f.num_traces(), 8);
  };
  settings::set("log", "error");  // it warns of what is done here
  trace_many(0, 100);
  memory::trim();
  const std::uint64_t in_use = memory::stats("CPU:0").in_use;
  const std::uint64_t resident = memory::resident_bytes();
  trace_many(0, 1000);
  memory::trim();
  EXPECT_EQ(memory::stats("CPU:0").in_use, in_use);
  if (memory::kHasOwnMemory) {
    EXPECT_LT(memory::resident_bytes(), resident + 8_MiB);
  }
}
TEST(RetraceTest, AHundredModelsLeaveMemoryFlat) {
  const auto build = [] {
    const Model model = make_model("mlp", 8, {.optimizer = "adam"});
    std::vector<Tensor> loss(1);
    model.step.run(model.inputs, loss);
  };
  for (int i = 0; i < 10; ++i) build();
  memory::trim();
  const std::uint64_t in_use = memory::stats("CPU:0").in_use;
  const std::uint64_t resident = memory::resident_bytes();
  for (int i = 0; i < 100; ++i) build();
  memory::trim();
  EXPECT_EQ(memory::stats("CPU:0").in_use, in_use);
  if (memory::kHasOwnMemory) {
    EXPECT_LT(memory::resident_bytes(), resident + 8_MiB);
  }
}

}  // namespace
}  // namespace plimsoll::bench

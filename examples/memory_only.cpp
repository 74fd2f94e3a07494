// The memory layer by itself: a limit, blocks inside it, an error instead of a crash.
#include <plimsoll/bytes.h>
#include <plimsoll/error.h>
#include <plimsoll/memory.h>

#include <cstdio>

using namespace plimsoll;
using namespace plimsoll::memory;

int main() {
  Budget budget({.name = "CPU:0", .limit = parse_bytes("512MiB"), .origin = "my own limit"});
  Heap heap(make_host_source(), budget, {.name = "CPU:0"});

  Block weights = heap.allocate(300_MiB, Owner(Tag::kWeights, "dense_1"));
  static_cast<float*>(weights.data())[0] = 1.0F;
  try {
    heap.allocate(300_MiB, Owner(Tag::kActivations, "dense_1/Relu"));
  } catch (const ResourceExhaustedError& e) {
    std::printf("%s: %s\n\n", e.name(), e.what());
  }

  weights.release();
  heap.trim();
  std::printf("in use %s, peak %s, pages held %s\n", format_bytes(budget.in_use()).c_str(),
              format_bytes(budget.peak()).c_str(), format_bytes(budget.committed()).c_str());
  return budget.in_use() == 0 && budget.committed() == 0 ? 0 : 1;
}

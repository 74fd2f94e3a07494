// A tour of the memory layer: what the contract promises, shown on real memory. Ends with 1 if a
// promise did not hold.
#include <plimsoll/bytes.h>
#include <plimsoll/error.h>
#include <plimsoll/memory.h>
#include <plimsoll/planner.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace plimsoll;
using namespace plimsoll::memory;

namespace {

int num_broken = 0;

void chapter(const char* title) {
  std::printf("\n== %s\n", title);
}

void show(const char* what, bool holds) {
  std::printf("   %s  %s\n", holds ? "holds " : "BROKEN", what);
  if (!holds) ++num_broken;
}

std::string text(std::uint64_t nbytes) {
  return format_bytes(nbytes);
}

// Anonymous memory of this process, as the system counts it.
std::uint64_t resident() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoull(line.substr(8)) * 1024;
  }
  return 0;
}

void show_limit(Heap& heap, const Budget& gpu) {
  chapter("A limit is hard, and out of memory is an error that says who holds what");
  Block weights = heap.allocate(101_MiB, Owner(Tag::kWeights, "dense_1/kernel"));
  Block activations = heap.allocate(300_MiB, Owner(Tag::kActivations, "conv2d_2/Relu"));
  bool refused = false;
  try {
    heap.allocate(200_MiB, Owner(Tag::kActivations, "conv2d_3/Relu"));
  } catch (const ResourceExhaustedError& e) {
    std::printf("%s: %s\n", e.name(), e.what());
    refused = true;
  }
  show("200 MiB more than 512 MiB allow are refused", refused);
  show("the refusal changed nothing", gpu.in_use() == 401_MiB);
  show("the same call with less works",
       heap.allocate(111_MiB, Tag::kActivations).nbytes() == 111_MiB);

  std::printf("   who holds what:\n");
  std::uint64_t sum = 0;
  for (const LedgerRow& row : gpu.ledger()) {
    std::printf("     %10s  %s\n", text(row.nbytes).c_str(), row.owner.to_string().c_str());
    sum += row.nbytes;
  }
  show("the rows add up to what is in use", sum == gpu.in_use());
}

void show_give_back(Heap& heap, const Budget& gpu) {
  chapter("Memory comes back");
  heap.trim();
  const std::uint64_t before = resident();
  Block block = heap.allocate(400_MiB, Tag::kActivations);
  std::memset(block.data(), 1, block.nbytes());
  const std::uint64_t held = resident();
  block.release();
  const auto start = std::chrono::steady_clock::now();
  while (gpu.committed() && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  const std::uint64_t after = resident();
  std::printf("   resident memory: %s, with a block of 400 MiB %s, %lld ms after freeing it %s\n",
              text(before).c_str(), text(held).c_str(), static_cast<long long>(waited.count()),
              text(after).c_str());
  show("the system has it back, without a call", after < before + 16_MiB);
}

void show_whole_limit(Heap& heap, const Budget& gpu) {
  chapter("The whole limit is usable, whatever came before");
  std::vector<Block> blocks;
  for (int i = 0; i < 512; ++i) blocks.push_back(heap.allocate(1_MiB, Tag::kActivations));
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].release();
  Block large = heap.allocate(256_MiB, Tag::kActivations);
  std::printf(
      "   512 blocks of 1 MiB, every second freed; then 256 MiB in one piece: in use %s, pages "
      "%s\n",
      text(gpu.in_use()).c_str(), text(gpu.committed()).c_str());
  show("256 MiB fit between 256 blocks", gpu.in_use() == 512_MiB);
  show("and no more pages are held than the limit", gpu.committed() <= 512_MiB + 2_MiB);
}

void show_tree(const Budget& process, const Budget& gpu) {
  chapter("Budgets form a tree: process > device");
  Budget cpu(process, {.name = "CPU:0", .limit = 768_MiB});
  Reservation on_gpu = gpu.reserve(400_MiB, Tag::kWeights);
  Reservation on_cpu = cpu.reserve(600_MiB, Tag::kDataset);
  std::printf("   process %s of %s: GPU:0 %s of %s, CPU:0 %s of %s\n",
              text(process.in_use()).c_str(), text(process.limit()).c_str(),
              text(gpu.in_use()).c_str(), text(gpu.limit()).c_str(), text(cpu.in_use()).c_str(),
              text(cpu.limit()).c_str());
  show("a device has room that the process has not", !gpu.try_reserve(100_MiB, Tag::kWeights));
  show("and what the process has left can be had",
       static_cast<bool>(gpu.try_reserve(24_MiB, Tag::kWeights)));
}

// Forward and backward over a chain of layers: an activation lives until its gradient was computed.
planner::Problem training_chain(int num_layers) {
  planner::Problem problem;
  const int last = 2 * num_layers;
  for (int layer = 0; layer < num_layers; ++layer) {
    const auto size = static_cast<std::int64_t>((layer % 3 + 1) * 4_MiB);
    problem.buffers.push_back(
        {.lower = layer, .upper = last - layer, .size = size, .alignment = 64});
    problem.buffers.push_back(
        {.lower = last - layer - 1, .upper = last - layer + 1, .size = size, .alignment = 64});
  }
  return problem;
}

void show_plan(const Budget& gpu) {
  chapter("The peak is known before the run: lifetimes packed into one arena");
  const planner::Problem problem = training_chain(24);
  std::int64_t sum = 0;
  for (const planner::Buffer& buffer : problem.buffers) sum += buffer.size;
  const planner::Result result = planner::solve(problem);
  const auto height = static_cast<std::uint64_t>(result.solution.height);
  std::printf("   %zu buffers of %s in all, packed into %s; no packing can need less than %s\n",
              problem.buffers.size(), text(static_cast<std::uint64_t>(sum)).c_str(),
              text(height).c_str(), text(static_cast<std::uint64_t>(result.lower_bound)).c_str());
  show("the plan is as low as its lower bound", result.solution.height == result.lower_bound);

  Arena arena(make_host_source(), gpu, height, Owner(Tag::kActivations, "train_step"));
  arena.acquire();
  arena.fill_pattern();
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {  // what kernels would write
    auto* buffer = static_cast<std::uint8_t*>(arena.data()) + result.solution.offsets[i];
    std::memset(buffer, 0, static_cast<std::size_t>(problem.buffers[i].size));
  }
  show("the run wrote as high as the plan said, to the byte", arena.written_height() == height);
  arena.rest();
  Reservation other = gpu.reserve(512_MiB, Tag::kWeights);
  show("an idle arena makes room for who needs it", !arena.is_held());
}

}  // namespace

int main() {
  std::printf(
      "Plimsoll: memory as a contract. A process of 1 GiB, in it a device GPU:0 of 512 MiB.\n");
  Budget process({.name = "process", .limit = 1_GiB, .origin = "PLIMSOLL_BUDGET"});
  Budget gpu(process, {.name = "GPU:0", .limit = 512_MiB, .origin = "memory_limit of GPU:0"});
  Heap heap(make_host_source(), gpu, {.name = "GPU:0"});
  show_limit(heap, gpu);
  show_give_back(heap, gpu);
  show_whole_limit(heap, gpu);
  show_tree(process, gpu);
  show_plan(gpu);
  std::printf("\n%s\n", num_broken ? "A promise was broken." : "All promises held.");
  return num_broken ? 1 : 0;
}

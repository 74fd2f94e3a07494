// Fused elementwise programs: one pass over memory, in blocks that stay in the first-level cache.
// Results of a block are written when all its inputs have been read, so that an output may lie
// where an input does.
#include "backend/api/fused.h"

#include <fmt/format.h>

#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/elementwise_loops.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements
constexpr std::int64_t kGrain = 16384;
constexpr std::size_t kMaxInputs = 16;

struct Instruction {
  Loop loop;
  double a;
  int x, y;  // as in FusedProgram, results being slots
  int slot;  // where the result goes
};

struct FusedState final : KernelState {
  std::vector<Instruction> instructions;
  std::vector<int> output_slots;
  std::vector<FusedReach> reach;     // by input
  std::vector<std::int64_t> period;  // by input: elements of a row
  std::int64_t num_elements = 0;
  std::int64_t size = 4;  // bytes of an element
  std::uint64_t nbytes() const noexcept override {
    return 256 + instructions.size() * sizeof(Instruction);
  }
};

// Gives each result a slot; one that is read for the last time is free for the next result.
class SlotBook {
 public:
  explicit SlotBook(const FusedProgram& program)
      : last_read_(program.steps.size(), -1), slot_(program.steps.size(), -1) {
    for (std::size_t k = 0; k < program.steps.size(); ++k) {
      for (const int operand : {program.steps[k].x, program.steps[k].y}) {
        if (operand < 0) last_read_[static_cast<std::size_t>(~operand)] = static_cast<int>(k);
      }
    }
    for (const int k : program.outputs)
      last_read_[static_cast<std::size_t>(k)] = static_cast<int>(program.steps.size());
    for (int i = FusedProgram::kMaxSlots; i-- > 0;) free_.push_back(i);
  }

  int slot_of(int step) const noexcept { return slot_[static_cast<std::size_t>(step)]; }
  int operand(int given) const noexcept { return given < 0 ? ~slot_of(~given) : given; }
  void read(int given, int step) {
    if (given >= 0 || last_read_[static_cast<std::size_t>(~given)] != step) return;
    last_read_[static_cast<std::size_t>(~given)] = -1;  // both operands may be the same
    free_.push_back(slot_of(~given));
  }
  int take(int step) {
    if (free_.empty()) throw UnimplementedError("Fused: too many results are alive at once");
    slot_[static_cast<std::size_t>(step)] = free_.back();
    free_.pop_back();
    return slot_of(step);
  }

 private:
  std::vector<int> last_read_, slot_, free_;
};

KernelStatePtr prepare_fused(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<FusedState>();
  const Shape& out = call.out[0].shape;
  state->num_elements = out.num_elements();
  state->size = dtype_size(call.out[0].dtype);
  if (call.in.size() > kMaxInputs) throw UnimplementedError("Fused: too many inputs");
  for (const TensorSpec& in : call.in) {
    state->period.push_back(in.shape.num_elements());
    state->reach.push_back(fused_reach(in.shape, out));
    if (state->reach.back() == FusedReach::kNot)
      throw UnimplementedError("Fused: an input that broadcasts otherwise than by rows");
  }
  SlotBook book(*call.program);
  for (int k = 0; k < static_cast<int>(call.program->steps.size()); ++k) {
    const FusedProgram::Step& step = call.program->steps[static_cast<std::size_t>(k)];
    const Loop loop = find_loop(step.op, call.out[0].dtype);
    if (!loop) throw UnimplementedError(fmt::format("Fused: no loop for {}", op_name(step.op)));
    const int x = book.operand(step.x), y = book.operand(step.y);
    book.read(step.x, k);
    book.read(step.y, k);
    state->instructions.push_back({loop, step.a, x, y, book.take(k)});
  }
  for (const int k : call.program->outputs) state->output_slots.push_back(book.slot_of(k));
  return state;
}

// A block of a row that repeats, laid out as the elements [begin, begin + n) see it.
void lay_out_row(const char* row, std::int64_t period, std::int64_t begin, std::int64_t n,
                 std::int64_t size, char* to) noexcept {
  std::int64_t done = 0;
  std::int64_t from = begin % period;
  while (done < n) {
    const std::int64_t count = std::min(n - done, period - from);
    std::memcpy(to + done * size, row + from * size, static_cast<std::size_t>(count * size));
    done += count;
    from = 0;
  }
}

// The elements [begin, end), at most a block.
void run_block(const RunArgs& args, const FusedState& state, std::int64_t begin, std::int64_t end,
               char* slots, char* rows) noexcept {
  const std::int64_t n = end - begin, size = state.size;
  const void* inputs[kMaxInputs];
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const char* from = args.in[i].as<const char>();
    inputs[i] = from;
    if (state.reach[i] == FusedReach::kAll) inputs[i] = from + begin * size;
    if (state.reach[i] != FusedReach::kRow) continue;
    const std::int64_t at = begin % state.period[i];
    inputs[i] = from + at * size;
    if (at + n <= state.period[i]) continue;
    lay_out_row(from, state.period[i], begin, n, size, rows);
    inputs[i] = rows;
    rows += kBlock * size;
  }
  const auto slot = [&](int s) { return slots + s * kBlock * size; };
  for (const Instruction& step : state.instructions) {
    LoopArgs loop{.x = step.x >= 0 ? inputs[step.x] : slot(~step.x),
                  .y = nullptr,
                  .out = slot(step.slot),
                  .n = n,
                  .a = step.a};
    loop.x_is_one =
        step.x >= 0 && state.reach[static_cast<std::size_t>(step.x)] == FusedReach::kOne;
    if (step.y != FusedProgram::kNone) {
      loop.y = step.y >= 0 ? inputs[step.y] : slot(~step.y);
      loop.y_is_one =
          step.y >= 0 && state.reach[static_cast<std::size_t>(step.y)] == FusedReach::kOne;
    }
    step.loop(loop);
  }
  for (std::size_t i = 0; i < args.out.size(); ++i) {
    std::memcpy(args.out[i].as<char>() + begin * size, slot(state.output_slots[i]),
                static_cast<std::size_t>(n * size));
  }
}

Status run_fused(const RunArgs& args) noexcept {
  const auto& state = static_cast<const FusedState&>(*args.state);
  parallel_for(state.num_elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) char slots[FusedProgram::kMaxSlots * kBlock * 8];
    alignas(64) char rows[kMaxInputs * kBlock * 8];
    for (std::int64_t i = begin; i < end; i += kBlock)
      run_block(args, state, i, std::min(end, i + kBlock), slots, rows);
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::Fused,
     .dtypes = {DType::kFloat32, DType::kFloat64},
     .prepare = prepare_fused,
     .run = run_fused},
};

}  // namespace

std::span<const KernelDef> fused_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

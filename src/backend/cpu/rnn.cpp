// Recurrent layers: what they book, and how threads share them. rnn.h has the way it is done.
#include "backend/cpu/rnn.h"

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr double kSmallWork = 64 * 64 * 64;  // multiplications that are not worth a second thread
constexpr std::int64_t kChunkRows = 512;     // of the batch and steps that a chunk has at least

struct RnnState final : KernelState {
  RnnLayer layer;
  RnnPlaces places;
  std::int64_t threads;         // that work at all
  std::int64_t parts;           // of the batch
  std::int64_t chunk = 1;       // steps, of gradients
  std::int64_t part_bytes = 0;  // a thread's own scratch
  std::uint64_t nbytes() const noexcept override { return sizeof(RnnState); }
};

std::shared_ptr<RnnState> make_state(const KernelCall& call) {
  auto state = std::make_shared<RnnState>();
  RnnLayer& l = state->layer;
  l.setup = rnn_setup(call.op, call.attrs);
  state->places = rnn_places(l.setup);
  const Shape& x = call.in[0].shape;
  l.dtype = call.in[0].dtype;
  l.batch = x.dim(l.setup.time_major ? 1 : 0);
  l.time = x.dim(l.setup.time_major ? 0 : 1);
  l.in = x.dim(2);
  l.units = call.in[2].shape.dim(0);
  const double work =
      static_cast<double>(l.batch * l.time) * static_cast<double>((l.in + l.units) * l.columns());
  state->threads = work < kSmallWork ? 1 : omp_get_max_threads();
  state->parts = std::clamp<std::int64_t>(l.batch, 1, state->threads);
  return state;
}

// Books elements of the type that is computed in.
void book(ScratchBook& scratch, const RnnLayer& l, std::int64_t elements) {
  scratch.book(static_cast<std::uint64_t>(elements * l.element_bytes()));
}
void book_parts(ScratchBook& scratch, RnnState& state, std::int64_t elements) {
  state.part_bytes = (elements * state.layer.element_bytes() + 63) / 64 * 64;
  scratch.book(static_cast<std::uint64_t>(state.threads * state.part_bytes));
}
std::int64_t rows_of_part(const RnnState& state) noexcept {
  return (state.layer.batch + state.parts - 1) / state.parts;
}

// Calls f(first, last, work) for parts of [0, n), each with its own scratch.
template <class F>
void for_parts(const RnnState& state, std::int64_t n, std::int64_t parts, const DeviceSpan& work,
               F&& f) noexcept {
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      f(n * p / parts, n * (p + 1) / parts, work.as<char>() + p * state.part_bytes);
  });
}
template <class F>
void for_panels(const RnnState& state, std::int64_t n, F&& f) noexcept {
  parallel_for(n, state.threads > 1 ? 1 : n + 1, f);
}

void* pointer(std::span<const DeviceSpan> spans, int i) noexcept {
  return i < 0 ? nullptr : spans[static_cast<std::size_t>(i)].as<void>();
}

KernelStatePtr prepare_forward(const KernelCall& call, ScratchBook& scratch) {
  const auto state = make_state(call);
  const RnnLayer& l = state->layer;
  book(scratch, l, RnnForwardPanels(l).size());
  book(scratch, l, 2 * l.columns());
  book_parts(scratch, *state, rnn_forward_work(l, rows_of_part(*state)));
  return state;
}

Status run_forward(const RunArgs& args) noexcept {
  const auto& state = *static_cast<const RnnState*>(args.state);
  const RnnLayer& l = state.layer;
  const RnnPlaces& p = state.places;
  if (l.batch == 0) return {};
  const RnnForward f{.layer = l,
                     .x = pointer(args.in, 0),
                     .kernel = pointer(args.in, 1),
                     .recurrent = pointer(args.in, 2),
                     .bias = pointer(args.in, p.bias),
                     .h0 = pointer(args.in, p.h),
                     .c0 = pointer(args.in, p.c),
                     .mask = static_cast<const bool*>(pointer(args.in, p.mask)),
                     .y = pointer(args.out, p.y),
                     .h = pointer(args.out, p.last_h),
                     .c = pointer(args.out, p.last_c),
                     .kept = pointer(args.out, p.kept),
                     .packed = args.scratch[0].as<void>(),
                     .biases = args.scratch[1].as<void>()};
  const RnnKernels& kernels = rnn_forward_kernels(l.dtype);
  for_panels(state, RnnForwardPanels(l).num(),
             [&](std::int64_t begin, std::int64_t end) { kernels.pack(f, begin, end); });
  for_parts(state, l.batch, state.parts, args.scratch[2],
            [&](std::int64_t first, std::int64_t last, void* work) {
              kernels.forward(f, first, last, work);
            });
  return {};
}

// The scratch of gradients, by slot.
enum BackwardSlot { kPacked, kCarried, kDg, kSteps, kWork, kBefore, kWide };

// The layer with the sizes of its scratch; no pointers yet.
RnnBackward backward_of(const RnnState& state) noexcept {
  RnnBackward b{};
  b.layer = state.layer;
  b.chunk = state.chunk;
  return b;
}

KernelStatePtr prepare_backward(const KernelCall& call, ScratchBook& scratch) {
  const auto state = make_state(call);
  const RnnLayer& l = state->layer;
  state->chunk =
      std::clamp<std::int64_t>(kChunkRows / std::max<std::int64_t>(l.batch, 1), 1, l.time);
  const RnnBackward b = backward_of(*state);
  const std::int64_t rows = state->chunk * l.batch;
  const bool has_weights = l.setup.needs & kNeedsWeights;
  book(scratch, l, RnnBackwardPanels(l).size());
  book(scratch, l, l.setup.num_states() * l.batch * l.units);
  book(scratch, l, rows * b.dg_stride());
  book(scratch, l,
       rows * ((has_weights ? b.x_stride() : 0) + (l.resets_before() ? 2 : 1) * b.h_stride()));
  book_parts(scratch, *state, rnn_backward_work(b, rows_of_part(*state)));
  scratch.book(l.setup.has_mask ? static_cast<std::uint64_t>(l.time * l.batch) * 4 : 0);
  const bool is_wide = has_weights && dtype_size(l.dtype) == 2;
  book(scratch, l, is_wide ? (l.in + l.units + 2) * l.columns() : 0);
  return state;
}

void find_before(const RnnLayer& l, const bool* mask, std::int32_t* before) noexcept {
  for (std::int64_t b = 0; b < l.batch; ++b) {
    std::int32_t last = -1;
    for (std::int64_t step = 0; step < l.time; ++step) {
      before[step * l.batch + b] = last;
      if (mask[l.x_row(b, step)]) last = static_cast<std::int32_t>(step);
    }
  }
}

// Between the tensors' type and the one that is computed in.
template <class F>
void visit_layer(DType dtype, F&& f) noexcept {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) f(T(), compute_t<T>());
  });
}
void widen(DType dtype, const void* from, void* to, std::int64_t n) noexcept {
  visit_layer(dtype, [&](auto narrow, auto wide) {
    const auto* x = static_cast<const decltype(narrow)*>(from);
    auto* y = static_cast<decltype(wide)*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[i] = x ? static_cast<decltype(wide)>(x[i]) : 0;
  });
}
void narrow(DType dtype, const void* from, void* to, std::int64_t n) noexcept {
  if (!to || !from || from == to) return;
  visit_layer(dtype, [&](auto small, auto wide) {
    const auto* x = static_cast<const decltype(wide)*>(from);
    auto* y = static_cast<decltype(small)*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<decltype(small)>(x[i]);
  });
}

// Pointers to the scratch and to the tensors; 16-bit gradients of weights add up in the scratch.
RnnBackward backward_at(const RunArgs& args, const RnnState& state) noexcept {
  const RnnLayer& l = state.layer;
  const RnnPlaces& p = state.places;
  RnnBackward b = backward_of(state);
  b.x = pointer(args.in, 0);
  b.kernel = pointer(args.in, 1);
  b.recurrent = pointer(args.in, 2);
  b.y = pointer(args.in, p.y);
  b.kept = pointer(args.in, p.kept);
  b.h0 = pointer(args.in, p.h);
  b.c0 = pointer(args.in, p.c);
  b.dy = pointer(args.in, p.dy);
  b.dh = pointer(args.in, p.dh);
  b.dc = pointer(args.in, p.dc);
  b.mask = static_cast<const bool*>(pointer(args.in, p.mask));
  b.dx = pointer(args.out, p.dx);
  b.packed = args.scratch[kPacked].as<void>();
  b.dg = args.scratch[kDg].as<void>();
  if (b.mask) b.before = args.scratch[kBefore].as<std::int32_t>();
  const auto split = [&](int slot) {
    return [&l, at = args.scratch[static_cast<std::size_t>(slot)].as<char>()](
               std::int64_t elements) mutable {
      void* given = at;
      at += elements * l.element_bytes();
      return given;
    };
  };
  auto carried = split(kCarried);
  b.carried_h = carried(l.batch * l.units);
  b.carried_c = l.setup.num_states() > 1 ? carried(0) : nullptr;
  auto steps = split(kSteps);
  const std::int64_t rows = state.chunk * l.batch;
  b.steps_h = steps(rows * b.h_stride());
  b.steps_reset = l.resets_before() ? steps(rows * b.h_stride()) : nullptr;
  if (p.dkernel < 0) return b;
  b.steps_x = steps(0);
  const bool is_wide = dtype_size(l.dtype) == 2;
  auto wide = split(kWide);
  const auto sums = [&](int place, std::int64_t elements) {
    return is_wide ? wide(elements) : pointer(args.out, place);
  };
  b.dkernel = sums(p.dkernel, l.in * l.columns());
  b.drecurrent = sums(p.drecurrent, l.units * l.columns());
  b.dbiases = p.dbias >= 0 ? sums(p.dbias, 2 * l.columns()) : nullptr;
  return b;
}

void write_gradients(const RunArgs& args, const RnnState& state, const RnnBackward& b) noexcept {
  const RnnLayer& l = state.layer;
  const RnnPlaces& p = state.places;
  narrow(l.dtype, b.carried_h, pointer(args.out, p.dh0), l.batch * l.units);
  narrow(l.dtype, b.carried_c, pointer(args.out, p.dc0), l.batch * l.units);
  narrow(l.dtype, b.dkernel, pointer(args.out, p.dkernel), l.in * l.columns());
  narrow(l.dtype, b.drecurrent, pointer(args.out, p.drecurrent), l.units * l.columns());
  narrow(l.dtype, b.dbiases, pointer(args.out, p.dbias),
         (l.setup.reset_after ? 2 : 1) * l.columns());
}

Status run_backward(const RunArgs& args) noexcept {
  const auto& state = *static_cast<const RnnState*>(args.state);
  const RnnLayer& l = state.layer;
  if (l.batch == 0) {
    for (const DeviceSpan& out : args.out) std::fill_n(out.as<char>(), out.nbytes, char{0});
    return {};
  }
  const RnnBackward b = backward_at(args, state);
  const RnnGradKernels& kernels = rnn_backward_kernels(l.dtype);
  for_panels(state, RnnBackwardPanels(l).num(),
             [&](std::int64_t begin, std::int64_t end) { kernels.pack(b, begin, end); });
  widen(l.dtype, b.dh, b.carried_h, l.batch * l.units);
  if (b.carried_c) widen(l.dtype, b.dc, b.carried_c, l.batch * l.units);
  if (b.mask) find_before(l, b.mask, b.before);
  const std::int64_t num_panels = RnnWeightPanels(l).num();
  for (std::int64_t end = l.time; end > 0; end -= std::min(end, state.chunk)) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - state.chunk);
    for_parts(state, l.batch, state.parts, args.scratch[kWork],
              [&](std::int64_t first, std::int64_t last, void* work) {
                kernels.steps(b, begin, end, first, last, work);
              });
    if (!b.dkernel) continue;
    for_parts(state, num_panels, state.threads, args.scratch[kWork],
              [&](std::int64_t first, std::int64_t last, void* work) {
                kernels.weights(b, begin, end, first, last, work);
              });
  }
  write_gradients(args, state, b);
  return {};
}

constexpr KernelDef forward_row(OpId op) {
  return {.op = op, .dtypes = kFloats, .prepare = prepare_forward, .run = run_forward};
}
constexpr KernelDef backward_row(OpId op) {
  return {.op = op, .dtypes = kFloats, .prepare = prepare_backward, .run = run_backward};
}
const KernelDef kRows[] = {
    forward_row(OpId::Lstm),      forward_row(OpId::Gru),      forward_row(OpId::SimpleRnn),
    backward_row(OpId::LstmGrad), backward_row(OpId::GruGrad), backward_row(OpId::SimpleRnnGrad),
};

}  // namespace

std::span<const KernelDef> rnn_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

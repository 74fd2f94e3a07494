// Elementwise kernels: the loops of elementwise_loops.h over broadcast operands, split over the
// cores; 16-bit floats pass through float, tile by tile.
#include <atomic>
#include <cstring>

#include "backend/cpu/broadcast.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/elementwise_loops.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {

Loop find_loop(OpId op, DType dtype) noexcept {
  using Row = std::array<Loop, kNumDTypes>;
  static const std::array<Row, kNumOps> table = [] {
    std::array<Row, kNumOps> made{};
    const auto at = [&](OpId o, DType d) -> Loop& {
      return made[static_cast<std::size_t>(o)][static_cast<std::size_t>(d)];
    };
    for (const FloatLoops& f : float_loops()) {
      at(f.op, DType::kFloat32) = at(f.op, DType::kFloat16) = at(f.op, DType::kBFloat16) = f.f32;
      at(f.op, DType::kFloat64) = f.f64;
    }
    for (const IntLoops& i : int_loops()) {
      at(i.op, DType::kInt8) = i.i8;
      at(i.op, DType::kUInt8) = i.u8;
      at(i.op, DType::kInt16) = i.i16;
      at(i.op, DType::kUInt16) = i.u16;
      at(i.op, DType::kInt32) = i.i32;
      at(i.op, DType::kInt64) = i.i64;
      at(i.op, DType::kBool) = i.boolean;
    }
    return made;
  }();
  return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)];
}

namespace {

constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread
constexpr std::int64_t kTile = 512;     // elements that are converted or spread at a time
constexpr std::int64_t kShortRun = 16;  // of a broadcast: operands are spread into tiles first

// A loop with all that a run of it needs but the place.
struct Mapped {
  Loop loop;
  DType dtype;
  std::int64_t in_size, out_size;  // bytes of an element
  bool out_is_test;
  double a;

  bool is_16bit() const noexcept { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }
};

const unsigned char* at(const void* base, std::int64_t bytes) noexcept {
  return static_cast<const unsigned char*>(base) + bytes;
}
unsigned char* at(void* base, std::int64_t bytes) noexcept {
  return static_cast<unsigned char*>(base) + bytes;
}

bool run_16bit(const Mapped& m, const LoopArgs& whole) noexcept {
  alignas(64) float x[kTile], y[kTile], out[kTile];
  const Converter& convert = converter_of(m.dtype);
  if (whole.x_is_one) convert.widen(whole.x, x, 1);
  if (whole.y && whole.y_is_one) convert.widen(whole.y, y, 1);
  bool is_fine = true;
  for (std::int64_t i = 0; i < whole.n; i += kTile) {
    LoopArgs part = whole;
    part.n = std::min(kTile, whole.n - i);
    part.x = x;
    if (!whole.x_is_one) convert.widen(at(whole.x, i * 2), x, part.n);
    if (whole.y) {
      part.y = y;
      if (!whole.y_is_one) convert.widen(at(whole.y, i * 2), y, part.n);
    }
    part.out = m.out_is_test ? static_cast<void*>(at(whole.out, i)) : out;
    is_fine &= m.loop(part);
    if (!m.out_is_test) convert.narrow(out, at(whole.out, i * 2), part.n);
  }
  return is_fine;
}

bool run_part(const Mapped& m, const LoopArgs& args) noexcept {
  return m.is_16bit() ? run_16bit(m, args) : m.loop(args);
}

// Copies `count` elements that lie `step` (0 or 1) apart.
void spread(unsigned char* to, const unsigned char* from, bool is_one, std::int64_t count,
            std::int64_t size) noexcept {
  if (!is_one) {
    std::memcpy(to, from, static_cast<std::size_t>(count * size));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * size, from, static_cast<std::size_t>(size));
}

// Elements [begin, end) of a broadcast whose runs are short: operands are laid out in tiles.
bool run_spread(const Mapped& m, const BroadcastPlan<2>& plan, const LoopArgs& whole,
                std::int64_t begin, std::int64_t end) noexcept {
  alignas(64) unsigned char x[kTile * 8], y[kTile * 8];
  bool is_fine = true;
  for (std::int64_t from = begin; from < end; from += kTile) {
    const std::int64_t to = std::min(end, from + kTile);
    for_each_run<2>(
        plan, from, to, [&](std::int64_t i, auto offset, auto step, std::int64_t count) {
          const std::int64_t here = (i - from) * m.in_size;
          spread(x + here, at(whole.x, offset[0] * m.in_size), !step[0], count, m.in_size);
          spread(y + here, at(whole.y, offset[1] * m.in_size), !step[1], count, m.in_size);
        });
    is_fine &= run_part(m, {x, y, at(whole.out, from * m.out_size), to - from, false, false, m.a});
  }
  return is_fine;
}

// Short rows that are the same for all of the other operand: one tile of copies serves throughout.
bool is_repeated_row(const BroadcastPlan<2>& plan, std::size_t k) noexcept {
  const std::size_t other = 1 - k;
  return plan.rank == 2 && plan.dims[0] < kShortRun && plan.strides[k][0] == 1 &&
         plan.strides[k][1] == 0 && plan.strides[other][0] == 1 &&
         plan.strides[other][1] == plan.dims[0];
}
bool run_repeated_row(const Mapped& m, std::size_t k, std::int64_t row, const LoopArgs& whole,
                      std::int64_t begin, std::int64_t end) noexcept {
  alignas(64) unsigned char tile[kTile * 8];
  const std::int64_t count = kTile / row * row;
  const void* from = k == 0 ? whole.x : whole.y;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(tile + i * m.in_size, at(from, (begin + i) % row * m.in_size),
                static_cast<std::size_t>(m.in_size));
  }
  bool is_fine = true;
  for (std::int64_t i = begin; i < end; i += count) {
    const void* other = at(k == 0 ? whole.y : whole.x, i * m.in_size);
    is_fine &=
        run_part(m, {k == 0 ? tile : other, k == 0 ? other : tile, at(whole.out, i * m.out_size),
                     std::min(count, end - i), false, false, m.a});
  }
  return is_fine;
}

bool run_broadcast(const Mapped& m, const BroadcastPlan<2>& plan, const LoopArgs& whole,
                   std::int64_t begin, std::int64_t end) noexcept {
  for (const std::size_t k : {0U, 1U}) {
    if (is_repeated_row(plan, k)) return run_repeated_row(m, k, plan.dims[0], whole, begin, end);
  }
  if (plan.rank > 1 && plan.dims[0] < kShortRun) return run_spread(m, plan, whole, begin, end);
  bool is_fine = true;
  for_each_run<2>(
      plan, begin, end, [&](std::int64_t i, auto offset, auto step, std::int64_t count) {
        is_fine &=
            run_part(m, {at(whole.x, offset[0] * m.in_size), at(whole.y, offset[1] * m.in_size),
                         at(whole.out, i * m.out_size), count, !step[0], !step[1], m.a});
      });
  return is_fine;
}

Status bad_value(OpId op) noexcept {
  return {ErrorCode::kInvalidArgument, op == OpId::Pow
                                           ? "Integers to negative integer powers are not allowed"
                                           : "Integer division by zero"};
}

Status run_map(const RunArgs& args) noexcept {
  const auto in = args.call.in;
  const TensorSpec& out = args.call.out[0];
  const Mapped m{find_loop(args.call.op, in[0].dtype),
                 in[0].dtype,
                 dtype_size(in[0].dtype),
                 dtype_size(out.dtype),
                 out.dtype != in[0].dtype,
                 args.attrs().size() ? args.attrs()[0].as_float() : 0};
  const std::int64_t n = out.shape.num_elements();
  const bool is_binary = in.size() == 2;
  LoopArgs whole{args.in[0].as<void>(),
                 is_binary ? args.in[1].as<void>() : nullptr,
                 args.out[0].as<void>(),
                 n,
                 false,
                 false,
                 m.a};
  std::atomic<bool> is_fine = true;
  // No plan is needed for operands that are as large as the output, or a single element.
  const bool x_fits = in[0].shape.num_elements() == n;
  const bool y_fits = !is_binary || in[1].shape.num_elements() == n;
  whole.x_is_one = !x_fits && in[0].shape.num_elements() == 1;
  whole.y_is_one = is_binary && !y_fits && in[1].shape.num_elements() == 1;
  if ((x_fits || whole.x_is_one) && (y_fits || whole.y_is_one)) {
    parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
      LoopArgs part = whole;
      part.n = end - begin;
      if (!whole.x_is_one) part.x = at(whole.x, begin * m.in_size);
      if (is_binary && !whole.y_is_one) part.y = at(whole.y, begin * m.in_size);
      part.out = at(whole.out, begin * m.out_size);
      if (!run_part(m, part)) is_fine = false;
    });
  } else if (n > 0) {
    const auto plan = make_broadcast_plan<2>(out.shape, {&in[0].shape, &in[1].shape});
    parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
      if (!run_broadcast(m, plan, whole, begin, end)) is_fine = false;
    });
  }
  return is_fine ? Status() : bad_value(args.call.op);
}

// Three operands: f(out, a, b, c) for the elements of one run, with steps of 0 or 1.
template <class A, class B, class F>
void run_ternary(const RunArgs& args, F&& f) noexcept {
  const A* a = args.in[0].as<const A>();
  const B* b = args.in[1].as<const B>();
  const B* c = args.in[2].as<const B>();
  B* out = args.out[0].as<B>();
  const auto in = args.call.in;
  const Shape& shape = args.call.out[0].shape;
  const auto plan = make_broadcast_plan<3>(shape, {&in[0].shape, &in[1].shape, &in[2].shape});
  parallel_for(shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for_each_run<3>(plan, begin, end,
                    [&](std::int64_t i, auto offset, auto step, std::int64_t count) {
                      const A* pa = a + offset[0];
                      const B* pb = b + offset[1];
                      const B* pc = c + offset[2];
                      B* po = out + i;
                      if (step[0] && step[1] && step[2]) {
#pragma GCC ivdep
                        for (std::int64_t k = 0; k < count; ++k) po[k] = f(pa[k], pb[k], pc[k]);
                      } else if (step[0] && !step[1] && !step[2]) {
                        const B first = *pb, second = *pc;
#pragma GCC ivdep
                        for (std::int64_t k = 0; k < count; ++k) po[k] = f(pa[k], first, second);
                      } else if (!step[0] && step[1] && step[2]) {
                        const A only = *pa;
#pragma GCC ivdep
                        for (std::int64_t k = 0; k < count; ++k) po[k] = f(only, pb[k], pc[k]);
                      } else {
                        for (std::int64_t k = 0; k < count; ++k)
                          po[k] = f(pa[k * step[0]], pb[k * step[1]], pc[k * step[2]]);
                      }
                    });
  });
}

// where(condition, x, y), by the size of the elements.
template <class T>
void select_typed(const RunArgs& args) noexcept {
  run_ternary<bool, T>(args, [](bool condition, T x, T y) { return condition ? x : y; });
}
Status run_select(const RunArgs& args) noexcept {
  switch (dtype_size(args.call.out[0].dtype)) {
    case 1:
      select_typed<std::uint8_t>(args);
      break;
    case 2:
      select_typed<std::uint16_t>(args);
      break;
    case 4:
      select_typed<std::uint32_t>(args);
      break;
    default:
      select_typed<std::uint64_t>(args);
      break;
  }
  return {};
}

Status run_clip(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      run_ternary<T, T>(args, [](T x, T lo, T hi) {
        using C = compute_t<T>;
        const C value = static_cast<C>(x), low = static_cast<C>(lo), high = static_cast<C>(hi);
        // As maximum(minimum(x, hi), lo) has it: a limit that is nan makes a nan, and lo wins.
        const C lowered = value < high || value != value ? value : high;
        return static_cast<T>(lowered > low || lowered != lowered ? lowered : low);
      });
    }
  });
  return {};
}

const KernelDef kRows[] = {
#define ROW(Name, types, ...) {.op = OpId::Name, .dtypes = types::set, .run = run_map},
#define UNARY ROW
#define TEST ROW
#define BINARY ROW
#define COMPARE ROW
#define CHECKED ROW
#include "ops/scalar_ops.def"
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE
#undef CHECKED
#undef ROW
    {.op = OpId::Select, .dtypes = kBools, .run = run_select},
    {.op = OpId::ClipByValue, .dtypes = kNumbers, .run = run_clip},
};

}  // namespace

std::span<const KernelDef> elementwise_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/random_fill.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements; a multiple of every tile
constexpr std::int64_t kGrain = 8;     // blocks that are worth a thread

Philox state_of(const RunArgs& args, std::size_t i) noexcept {
  const std::int64_t size = args.call.in[i].shape.num_elements();
  return args.call.in[i].dtype == DType::kInt32
             ? Philox::from_state(args.in[i].as<const std::int32_t>(), size)
             : Philox::from_state(args.in[i].as<const std::int64_t>(), size);
}

// Calls f(begin, end) for parts of [0, n) that begin at multiples of kBlock.
template <class F>
void for_blocks(std::int64_t n, F&& f) noexcept {
  parallel_for((n + kBlock - 1) / kBlock, kGrain, [&](std::int64_t begin, std::int64_t end) {
    f(begin * kBlock, std::min(n, end * kBlock));
  });
}

template <FillFn FillKernels::*kFill>
Status run_fill(const RunArgs& args) noexcept {
  const TensorSpec& out = args.call.out[0];
  const FillFn fill = fill_kernels(out.dtype).*kFill;
  const FillArgs all{state_of(args, 0), args.out[0].as<void>(),
                     args.attrs()[attr::RandomUniform::minval].as_float(),
                     args.attrs()[attr::RandomUniform::maxval].as_float()};
  for_blocks(out.shape.num_elements(),
             [&](std::int64_t begin, std::int64_t end) { fill(all, begin, end); });
  return {};
}

Status run_dropout(const RunArgs& args) noexcept {
  const TensorSpec& spec = args.call.in[0];
  const DropFn drop = fill_kernels(spec.dtype).dropout;
  const FillArgs all{state_of(args, 1), args.out[0].as<void>(),
                     args.attrs()[attr::Dropout::rate].as_float(), 0};
  for_blocks(spec.shape.num_elements(), [&](std::int64_t begin, std::int64_t end) {
    drop(all, args.in[0].as<void>(), begin, end);
  });
  return {};
}

Status run_uniform_int(const RunArgs& args) noexcept {
  const Philox start = state_of(args, 0);
  const auto lo = static_cast<std::uint64_t>(args.attrs()[attr::RandomUniformInt::minval].as_int());
  const std::uint64_t range =
      static_cast<std::uint64_t>(args.attrs()[attr::RandomUniformInt::maxval].as_int()) - lo;
  const TensorSpec& out = args.call.out[0];
  const bool is_wide = out.dtype == DType::kInt64;
  const std::int64_t per_group = is_wide ? 2 : 4;
  for_blocks(out.shape.num_elements(), [&](std::int64_t begin, std::int64_t end) {
    Philox p = start;
    p.skip(static_cast<std::uint64_t>(begin / per_group));
    for (std::int64_t i = begin; i < end; i += per_group, p.skip(1)) {
      const auto x = p();
      for (std::int64_t k = 0; k < per_group && i + k < end; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (is_wide) {
          const std::uint64_t bits = x[2 * at] | std::uint64_t{x[2 * at + 1]} << 32;
          args.out[0].as<std::uint64_t>()[i + k] = lo + bits % range;
        } else {
          args.out[0].as<std::uint32_t>()[i + k] =
              static_cast<std::uint32_t>(lo) + x[at] % static_cast<std::uint32_t>(range);
        }
      }
    }
  });
  return {};
}

std::int64_t num_rows(const Shape& shape) noexcept {
  return shape.rank() == 0 ? 1 : shape.dim(0);
}
KernelStatePtr prepare_shuffle(const KernelCall& call, ScratchBook& scratch) {
  scratch.book(static_cast<std::uint64_t>(num_rows(call.in[0].shape)) * sizeof(std::int64_t));
  return nullptr;
}
Status run_shuffle(const RunArgs& args) noexcept {
  const Shape& shape = args.call.in[0].shape;
  const std::int64_t n = num_rows(shape);
  if (shape.num_elements() == 0) return {};
  std::int64_t* order = args.scratch[0].as<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) order[i] = i;
  Philox p = state_of(args, 1);
  auto x = p();
  for (std::int64_t i = 0; i + 1 < n; ++i) {  // one number for each place, in order
    if (i > 0 && i % 4 == 0) {
      p.skip(1);
      x = p();
    }
    const auto left = static_cast<std::uint32_t>(n - i);
    std::swap(order[i], order[i + x[static_cast<std::size_t>(i % 4)] % left]);
  }
  const auto nbytes = static_cast<std::int64_t>(args.in[0].nbytes) / n;
  const char* from = args.in[0].as<const char>();
  char* to = args.out[0].as<char>();
  parallel_for(
      n, std::max<std::int64_t>(1, 65536 / nbytes), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          std::memcpy(to + i * nbytes, from + order[i] * nbytes, static_cast<std::size_t>(nbytes));
      });
  return {};
}

constexpr DTypeSet kStates{DType::kInt32, DType::kInt64};
const KernelDef kRows[] = {
    {.op = OpId::RandomUniform, .dtypes = kStates, .run = run_fill<&FillKernels::uniform>},
    {.op = OpId::RandomUniformInt, .dtypes = kStates, .run = run_uniform_int},
    {.op = OpId::RandomNormal, .dtypes = kStates, .run = run_fill<&FillKernels::normal>},
    {.op = OpId::TruncatedNormal,
     .dtypes = kStates,
     .run = run_fill<&FillKernels::truncated_normal>},
    {.op = OpId::RandomShuffle, .dtypes = kAll, .prepare = prepare_shuffle, .run = run_shuffle},
    {.op = OpId::Dropout, .dtypes = kFloats, .run = run_dropout},
};

}  // namespace

std::span<const KernelDef> random_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

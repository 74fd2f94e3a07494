#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrain = 65536;

Status run_fill(const RunArgs& args) noexcept {
  const double value = args.attrs()[attr::Fill::value].as_float();
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto v = static_cast<T>(static_cast<compute_t<T>>(value));
    T* out = args.out[0].as<T>();
    parallel_for(
        args.call.out[0].shape.num_elements(), kGrain,
        [&](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, v); });
  });
  return {};
}

Status run_cast(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    visit_dtype(args.call.out[0].dtype, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const From* in = args.in[0].as<const From>();
      To* out = args.out[0].as<To>();
      parallel_for(
          args.call.out[0].shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              out[i] =
                  static_cast<To>(static_cast<compute_t<To>>(static_cast<compute_t<From>>(in[i])));
            }
          });
    });
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::Fill, .dtypes = kAll, .run = run_fill},
    {.op = OpId::Cast, .dtypes = kAll, .run = run_cast},
};

}  // namespace

std::span<const KernelDef> create_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

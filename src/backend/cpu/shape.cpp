#include "backend/cpu/broadcast.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

template <class T>
void broadcast_typed(const RunArgs& args) noexcept {
  const T* in = args.in[0].as<const T>();
  T* out = args.out[0].as<T>();
  const Shape& shape = args.call.out[0].shape;
  const auto plan = make_broadcast_plan<1>(shape, {&args.call.in[0].shape});
  parallel_for(shape.num_elements(), 65536, [&](std::int64_t begin, std::int64_t end) {
    for_each_run<1>(plan, begin, end,
                    [&](std::int64_t at, auto offset, auto step, std::int64_t count) {
                      const T* from = in + offset[0];
                      if (step[0]) {
                        std::copy(from, from + count, out + at);
                      } else {
                        std::fill(out + at, out + at + count, *from);
                      }
                    });
  });
}

Status run_broadcast_to(const RunArgs& args) noexcept {
  switch (dtype_size(args.call.out[0].dtype)) {
    case 1:
      broadcast_typed<std::uint8_t>(args);
      break;
    case 2:
      broadcast_typed<std::uint16_t>(args);
      break;
    case 4:
      broadcast_typed<std::uint32_t>(args);
      break;
    default:
      broadcast_typed<std::uint64_t>(args);
      break;
  }
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::BroadcastTo, .dtypes = kAll, .run = run_broadcast_to},
};

}  // namespace

std::span<const KernelDef> shape_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

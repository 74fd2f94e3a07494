#include <fmt/format.h>

#include "backend/gpu/dialect.h"

namespace plimsoll::gpu {

std::string cast_source(DType from, DType to) {
  const std::string value = load(from, "in + in_at", "i");
  return fmt::format(
      "{}KERNEL void cast(int64 n, GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, "
      "int64 in_at) {{\n  for (int64 i = ID; i < n; i += NUM_IDS) store_{}(out + out_at, i, "
      "{});\n}}\n",
      kTypes, dtype_name(to),
      to == DType::kBool ? value + " != 0" : fmt::format("({}){}", compute_type(to), value));
}

}  // namespace plimsoll::gpu

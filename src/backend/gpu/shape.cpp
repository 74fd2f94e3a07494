#include <fmt/format.h>

#include "backend/gpu/dialect.h"

namespace plimsoll::gpu {

std::string copy_source(std::int64_t element_size) {
  const char* type = element_size == 1   ? "uchar"
                     : element_size == 2 ? "ushort"
                     : element_size == 4 ? "uint"
                                         : "ulong";
  return fmt::format(R"({}
KERNEL void copy(int64 n, Walk walk, int64 from, int64 to, GLOBAL uchar* out, int64 out_at,
                 GLOBAL const uchar* in, int64 in_at) {{
  for (int64 i = ID; i < n; i += NUM_IDS) {{
    int64 rest = i, read = from, write = to;
    for (int d = 0; d < walk.rank; ++d) {{
      int64 k = rest % walk.dims[d];
      rest /= walk.dims[d];
      read += k * walk.strides[0][d];
      write += k * walk.strides[1][d];
    }}
    ((GLOBAL {}*)(out + out_at))[write] = ((GLOBAL const {}*)(in + in_at))[read];
  }}
}}
)",
                     kTypes, type, type);
}

}  // namespace plimsoll::gpu

#include <fmt/format.h>

#include "backend/gpu/dialect.h"

namespace plimsoll::gpu {
namespace {

bool is_max(OpId op) noexcept {
  return op == OpId::ReduceMax || op == OpId::ArgMax;
}

// What a sum, a product or an extreme is kept in.
std::string_view accumulator(OpId op, DType dtype, bool has_doubles) noexcept {
  if (dtype == DType::kBool || op == OpId::ReduceMax || op == OpId::ReduceMin)
    return compute_type(dtype);
  if (!is_floating(dtype)) return "int64";
  return has_doubles ? "double" : "float";
}

bool is_small_integer(DType dtype) noexcept {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16 ||
         dtype == DType::kUInt16;
}

// The largest or the smallest number of a type.
std::string limit_of(DType dtype, bool largest) {
  switch (dtype) {
    case DType::kInt8:
      return largest ? "127" : "-128";
    case DType::kUInt8:
      return largest ? "255" : "0";
    case DType::kInt16:
      return largest ? "32767" : "-32768";
    case DType::kUInt16:
      return largest ? "65535" : "0";
    case DType::kInt32:
      return largest ? "2147483647" : "(-2147483647 - 1)";
    case DType::kInt64:
      return largest ? "9223372036854775807L" : "(-9223372036854775807L - 1)";
    default:
      return largest ? "INFINITY" : "-INFINITY";
  }
}

}  // namespace

std::uint64_t accumulator_bytes(OpId op, DType dtype, bool has_doubles) noexcept {
  const std::string_view type = accumulator(op, dtype, has_doubles);
  return type == "double" || type == "int64" ? 8 : 4;
}

namespace {

// A walk through one operand: kernels have little room for arguments.
constexpr const char* kLine = R"(
typedef struct { int64 rank; int64 dims[8]; int64 strides[8]; } Line;
INLINE int64 line_offset(Line w, int64 i) {
  if (w.rank == 1) return i * w.strides[0];
  int64 at = 0;
  for (int d = 0; d < w.rank; ++d) {
    at += i % w.dims[d] * w.strides[d];
    i /= w.dims[d];
  }
  return at;
}
)";

}  // namespace

std::string reduce_source(OpId op, DType dtype, bool has_doubles) {
  std::string first = "0", add, last = "a";
  switch (op) {
    case OpId::ReduceSum:
      add = "a + x";
      if (is_small_integer(dtype))  // stops at the limits of the type
        last = fmt::format("a < {0} ? {0} : (a > {1} ? {1} : a)", limit_of(dtype, false),
                           limit_of(dtype, true));
      break;
    case OpId::ReduceMean:
      add = "a + x";
      last = is_floating(dtype) ? "a / count" : "(count ? a / count : 0)";
      break;
    case OpId::ReduceProd:
      first = "1";
      add = "a * x";
      break;
    case OpId::ReduceMax:
    case OpId::ReduceMin:
      first = limit_of(dtype, op == OpId::ReduceMin);
      add = fmt::format("x {} a || x != x ? x : a", is_max(op) ? ">" : "<");
      break;
    case OpId::ReduceAll:
      first = "1";
      add = "a & x";
      break;
    default:
      add = "a | x";
  }
  return fmt::format(
      R"({types}{line}
typedef {acc} acc_t;
typedef {real} real;
INLINE acc_t add(acc_t a, acc_t x) {{ return {add}; }}
INLINE void put(GLOBAL uchar* out, int64 o, acc_t a, int64 count, int is_last) {{
  if (is_last) {{
    store_{dtype}(out, o, (real)({last}));
  }} else {{
    ((GLOBAL acc_t*)out)[o] = a;
  }}
}}
KERNEL void rows(int64 num_out, int64 count, int64 splits, Line kept, Line reduced,
                 GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, int64 in_at) {{
  LOCAL acc_t part[GROUP];
  for (int64 g = GROUP_ID; g < num_out * splits; g += NUM_GROUPS) {{
    int64 o = g / splits, s = g % splits;
    int64 from = line_offset(kept, o);
    int64 begin = count * s / splits, end = count * (s + 1) / splits;
    acc_t a = {first};
    for (int64 k = begin + LOCAL_ID; k < end; k += GROUP)
      a = add(a, (acc_t)load_{dtype}(in + in_at, from + line_offset(reduced, k)));
    part[LOCAL_ID] = a;
    for (int step = GROUP / 2; step > 0; step /= 2) {{
      BARRIER;
      if (LOCAL_ID < step) part[LOCAL_ID] = add(part[LOCAL_ID], part[LOCAL_ID + step]);
    }}
    if (LOCAL_ID == 0) put(out + out_at, s * num_out + o, part[0], count, splits == 1);
    BARRIER;
  }}
}}
KERNEL void columns(int64 num_out, int64 count, int64 splits, Line kept, Line reduced,
                    GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, int64 in_at) {{
  for (int64 i = ID; i < num_out * splits; i += NUM_IDS) {{
    int64 o = i % num_out, s = i / num_out;
    int64 from = line_offset(kept, o);
    int64 begin = count * s / splits, end = count * (s + 1) / splits;
    acc_t a = {first};
    for (int64 k = begin; k < end; ++k)
      a = add(a, (acc_t)load_{dtype}(in + in_at, from + line_offset(reduced, k)));
    put(out + out_at, i, a, count, splits == 1);
  }}
}}
KERNEL void finish(int64 num_out, int64 count, int64 splits, GLOBAL uchar* out, int64 out_at,
                   GLOBAL const uchar* parts, int64 parts_at) {{
  for (int64 o = ID; o < num_out; o += NUM_IDS) {{
    acc_t a = {first};
    for (int64 s = 0; s < splits; ++s)
      a = add(a, ((GLOBAL const acc_t*)(parts + parts_at))[s * num_out + o]);
    put(out + out_at, o, a, count, 1);
  }}
}}
)",
      fmt::arg("line", kLine), fmt::arg("types", kTypes),
      fmt::arg("acc", accumulator(op, dtype, has_doubles)), fmt::arg("real", compute_type(dtype)),
      fmt::arg("add", add), fmt::arg("dtype", dtype_name(dtype)), fmt::arg("last", last),
      fmt::arg("first", first));
}

std::string arg_source(OpId op, DType in, DType out) {
  return fmt::format(R"({types}
typedef {real} real;
KERNEL void arg(int64 outer, int64 n, int64 inner, GLOBAL uchar* out, int64 out_at,
                GLOBAL const uchar* in, int64 in_at) {{
  for (int64 i = ID; i < outer * inner; i += NUM_IDS) {{
    int64 from = i / inner * n * inner + i % inner, place = 0;
    real best = load_{in}(in + in_at, from);
    for (int64 k = 1; k < n; ++k) {{
      real x = load_{in}(in + in_at, from + k * inner);
      if (x {sign} best || (best != best && x == x)) {{
        best = x;
        place = k;
      }}
    }}
    store_{out}(out + out_at, i, place);
  }}
}}
)",
                     fmt::arg("types", kTypes), fmt::arg("real", compute_type(in)),
                     fmt::arg("in", dtype_name(in)), fmt::arg("out", dtype_name(out)),
                     fmt::arg("sign", is_max(op) ? ">" : "<"));
}

}  // namespace plimsoll::gpu

#include "backend/gpu/dialect.h"

#include <fmt/format.h>

namespace plimsoll::gpu {

// Loads, stores and the types behind them.
const char* const kTypes = R"(
typedef struct { int64 rank; int64 dims[16]; int64 strides[3][16]; } Walk;

#define DEFINE_PLAIN(name, type)                                                         \
  INLINE type load_##name(GLOBAL const uchar* p, int64 i) { return ((GLOBAL const type*)p)[i]; } \
  INLINE void store_##name(GLOBAL uchar* p, int64 i, type v) { ((GLOBAL type*)p)[i] = v; }
DEFINE_PLAIN(float32, float)
#ifdef HAS_DOUBLES
DEFINE_PLAIN(float64, double)
#endif
DEFINE_PLAIN(int8, char)
DEFINE_PLAIN(uint8, uchar)
DEFINE_PLAIN(int16, short)
DEFINE_PLAIN(uint16, ushort)
DEFINE_PLAIN(int32, int)
DEFINE_PLAIN(int64, int64)
INLINE uchar load_bool(GLOBAL const uchar* p, int64 i) { return p[i]; }
INLINE void store_bool(GLOBAL uchar* p, int64 i, uchar v) { p[i] = v != 0; }
INLINE float load_float16(GLOBAL const uchar* p, int64 i) { return LOAD_HALF(p, i); }
INLINE void store_float16(GLOBAL uchar* p, int64 i, float v) { STORE_HALF(p, i, v); }
INLINE float load_bfloat16(GLOBAL const uchar* p, int64 i) {
  return BITS_FLOAT((uint)load_uint16(p, i) << 16);
}
INLINE void store_bfloat16(GLOBAL uchar* p, int64 i, float v) {
  uint bits = FLOAT_BITS(v);
  bits = v != v ? (bits | 0x400000u) : bits + 0x7FFFu + (bits >> 16 & 1u);
  store_uint16(p, i, (ushort)(bits >> 16));
}

INLINE int64 walk_offset(Walk w, int k, int64 i) {
  if (w.rank == 1) return i * w.strides[k][0];
  int64 at = 0;
  for (int d = 0; d < w.rank; ++d) {
    at += i % w.dims[d] * w.strides[k][d];
    i /= w.dims[d];
  }
  return at;
}
)";

namespace {

// The functions that expressions may call, for the type `real`.
constexpr const char* kFloatFunctions = R"(
#define T(c) ((real)(c))
#define abs(x) fabs(x)
INLINE real round_even(real x) { return rint(x); }
INLINE real sigmoid(real x) {
  real e = exp(x < T(0) ? x : -x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
INLINE real softplus(real x) { return (x > T(0) ? x : T(0)) + log1p(exp(-fabs(x))); }
INLINE real silu_grad(real x, real y) {
  real s = sigmoid(y);
  return x * (s * (T(1) + y * (T(1) - s)));
}
INLINE real gelu_grad(real x, real y) {
  return x * (T(0.5) * erfc(y * T(-0.70710678118654752)) +
              y * (T(0.39894228040143268) * exp(T(-0.5) * y * y)));
}
INLINE real gelu_tanh_grad(real x, real y) {
  real square = y * y;
  real s = sigmoid(T(1.5957691216057308) * (y + T(0.044715) * (square * y)));
  real inner = T(1.5957691216057308) * (T(1) + T(0.134145) * square);
  return x * (s + y * (s * (T(1) - s)) * inner);
}
INLINE real mish_grad(real x, real y) {
  real t = tanh(softplus(y));
  return x * (t + y * sigmoid(y) * (T(1) - t * t));
}
INLINE real floor_div(real x, real y) { return floor(x / y); }
INLINE real floor_mod(real x, real y) {
  real m = fmod(x, y);
  return m != T(0) && (y < T(0)) != (m < T(0)) ? m + y : m;
}
INLINE uchar is_nan(real x) { return x != x; }
INLINE uchar is_inf(real x) { return x - x != T(0) && x == x; }
INLINE uchar is_finite(real x) { return x - x == T(0); }
)";

constexpr const char* kIntegerFunctions = R"(
#define T(c) ((real)(c))
INLINE int clamp_shift(real y) {
  int most = 8 * (int)sizeof(real) - 1;
  return y < T(0) ? 0 : (y > T(most) ? most : (int)y);
}
INLINE real left_shift(real x, real y) { return (real)((ulong)x << clamp_shift(y)); }
INLINE real right_shift(real x, real y) { return (real)(x >> clamp_shift(y)); }
)";

// As maximum(minimum(x, high), low) has it: a limit that is nan makes a nan, and the low one wins.
constexpr const char* kClip = R"(
INLINE real clip(real x, real low, real high) {
  real y = x < high || x != x ? x : high;
  return y > low || y != y ? y : low;
}
)";

}  // namespace

std::string head(DType real) {
  return fmt::format("{}typedef {} real;\n{}{}", kTypes, compute_type(real),
                     is_floating(real) ? kFloatFunctions : kIntegerFunctions, kClip);
}

std::string load(DType dtype, std::string_view pointer, std::string_view index) {
  return fmt::format("load_{}({}, {})", dtype_name(dtype), pointer, index);
}

std::string_view compute_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
      return "double";
    case DType::kInt8:
      return "char";
    case DType::kUInt8:
    case DType::kBool:
      return "uchar";
    case DType::kInt16:
      return "short";
    case DType::kUInt16:
      return "ushort";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "int64";
    default:
      return "float";
  }
}

}  // namespace plimsoll::gpu

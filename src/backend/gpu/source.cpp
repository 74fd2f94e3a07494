#include "backend/gpu/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/gpu/expressions.h"

namespace plimsoll::gpu {
namespace {

// Loads, stores and the types behind them.
constexpr const char* kTypes = R"(
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

std::string head(DType real) {
  return fmt::format("{}typedef {} real;\n{}{}", kTypes, compute_type(real),
                     is_floating(real) ? kFloatFunctions : kIntegerFunctions, kClip);
}

std::string load(DType dtype, std::string_view pointer, std::string_view index) {
  return fmt::format("load_{}({}, {})", dtype_name(dtype), pointer, index);
}

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

std::string lowest(DType dtype, bool largest) {
  const char* sign = largest ? "" : "-";
  switch (dtype) {
    case DType::kInt8:
      return largest ? "127" : "-128";
    case DType::kUInt8:
      return largest ? "255" : "0";
    case DType::kInt16:
      return largest ? "32767" : "-32768";
    case DType::kInt32:
      return largest ? "2147483647" : "(-2147483647 - 1)";
    case DType::kInt64:
      return largest ? "9223372036854775807L" : "(-9223372036854775807L - 1)";
    default:
      return fmt::format("{}INFINITY", sign);
  }
}

}  // namespace

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
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "int64";
    default:
      return "float";
  }
}

std::string map_source(const MapKernel& k) {
  std::string text = head(k.compute);
  std::vector<OpId> defined;
  for (const MapStep& step : k.steps) {
    if (std::ranges::find(defined, step.op) != defined.end()) continue;
    defined.push_back(step.op);
    if (step.op == OpId::Select) continue;
    const Expression& e = *find_expression(step.op);
    text += fmt::format("INLINE {} op_{}(real x, real y, real z, real a) {{ return {}; }}\n",
                        e.is_bool ? "uchar" : "real", op_name(step.op), e.text);
  }
  const bool is_strided = std::ranges::find(k.reach, FusedReach::kNot) != k.reach.end();
  text += "KERNEL void map(int64 n, Walk walk";
  for (std::size_t i = 0; i < k.out.size(); ++i)
    text += fmt::format(", GLOBAL uchar* o{0}, int64 o{0}_at", i);
  for (std::size_t i = 0; i < k.in.size(); ++i)
    text += fmt::format(", GLOBAL const uchar* i{0}, int64 i{0}_at", i);
  text += ") {\n  for (int64 i = ID; i < n; i += NUM_IDS) {\n";
  if (is_strided) {
    text +=
        "  int64 rest = i, at[3] = {0, 0, 0};\n"
        "  for (int d = 0; d < walk.rank; ++d) {\n"
        "    int64 k = rest % walk.dims[d];\n"
        "    rest /= walk.dims[d];\n";
    for (std::size_t i = 0; i < k.in.size(); ++i)
      text += fmt::format("    at[{0}] += k * walk.strides[{0}][d];\n", i);
    text += "  }\n";
  }
  for (std::size_t i = 0; i < k.in.size(); ++i) {
    const std::string index = k.reach[i] == FusedReach::kAll   ? "i"
                              : k.reach[i] == FusedReach::kOne ? "0"
                              : k.reach[i] == FusedReach::kRow ? fmt::format("i % walk.dims[{}]", i)
                                                               : fmt::format("at[{}]", i);
    text += fmt::format("  {} x{} = {};\n", compute_type(k.in[i]), i,
                        load(k.in[i], fmt::format("i{0} + i{0}_at", i), index));
  }
  for (std::size_t s = 0; s < k.steps.size(); ++s) {
    const MapStep& step = k.steps[s];
    const auto operand = [&](std::size_t o) {
      if (o >= step.operands.size()) return std::string("T(0)");
      const int given = step.operands[o];
      return given < 0 ? fmt::format("t{}", ~given) : fmt::format("x{}", given);
    };
    if (step.op == OpId::Select) {
      text += fmt::format("  real t{} = {} ? {} : {};\n", s, operand(0), operand(1), operand(2));
      continue;
    }
    text += fmt::format("  {} t{} = op_{}({}, {}, {}, T({}));\n",
                        find_expression(step.op)->is_bool ? "uchar" : "real", s, op_name(step.op),
                        operand(0), operand(1), operand(2), step.a);
  }
  for (std::size_t o = 0; o < k.out.size(); ++o)
    text += fmt::format("  store_{}(o{} + o{}_at, i, t{});\n", dtype_name(k.out[o]), o, o,
                        k.outputs[o]);
  return text + "  }\n}\n";
}

std::string cast_source(DType from, DType to) {
  const std::string value = load(from, "in + in_at", "i");
  return fmt::format(
      "{}KERNEL void cast(int64 n, GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, "
      "int64 in_at) {{\n  for (int64 i = ID; i < n; i += NUM_IDS) store_{}(out + out_at, i, "
      "{});\n}}\n",
      kTypes, dtype_name(to),
      to == DType::kBool ? value + " != 0" : fmt::format("({}){}", compute_type(to), value));
}

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

std::uint64_t accumulator_bytes(OpId op, DType dtype, bool has_doubles) noexcept {
  const std::string_view type = accumulator(op, dtype, has_doubles);
  return type == "double" || type == "int64" ? 8 : 4;
}

std::string reduce_source(OpId op, DType dtype, bool has_doubles) {
  std::string first = "0", add, last = "a";
  switch (op) {
    case OpId::ReduceSum:
      add = "a + x";
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
      first = lowest(dtype, op == OpId::ReduceMin);
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
      R"({types}
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
KERNEL void rows(int64 num_out, int64 count, int64 splits, Walk kept, Walk reduced,
                 GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, int64 in_at) {{
  LOCAL acc_t part[GROUP];
  for (int64 g = GROUP_ID; g < num_out * splits; g += NUM_GROUPS) {{
    int64 o = g / splits, s = g % splits;
    int64 from = walk_offset(kept, 0, o);
    int64 begin = count * s / splits, end = count * (s + 1) / splits;
    acc_t a = {first};
    for (int64 k = begin + LOCAL_ID; k < end; k += GROUP)
      a = add(a, (acc_t)load_{dtype}(in + in_at, from + walk_offset(reduced, 0, k)));
    part[LOCAL_ID] = a;
    for (int step = GROUP / 2; step > 0; step /= 2) {{
      BARRIER;
      if (LOCAL_ID < step) part[LOCAL_ID] = add(part[LOCAL_ID], part[LOCAL_ID + step]);
    }}
    if (LOCAL_ID == 0) put(out + out_at, s * num_out + o, part[0], count, splits == 1);
    BARRIER;
  }}
}}
KERNEL void columns(int64 num_out, int64 count, int64 splits, Walk kept, Walk reduced,
                    GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* in, int64 in_at) {{
  for (int64 i = ID; i < num_out * splits; i += NUM_IDS) {{
    int64 o = i % num_out, s = i / num_out;
    int64 from = walk_offset(kept, 0, o);
    int64 begin = count * s / splits, end = count * (s + 1) / splits;
    acc_t a = {first};
    for (int64 k = begin; k < end; ++k)
      a = add(a, (acc_t)load_{dtype}(in + in_at, from + walk_offset(reduced, 0, k)));
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
      fmt::arg("types", kTypes), fmt::arg("acc", accumulator(op, dtype, has_doubles)),
      fmt::arg("real", compute_type(dtype)), fmt::arg("add", add),
      fmt::arg("dtype", dtype_name(dtype)), fmt::arg("last", last), fmt::arg("first", first));
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

namespace {

// Sums and largest elements over a group; every work-item has the result.
constexpr const char* kGroupFunctions = R"(
INLINE real group_sum(real x, LOCAL real* part) {
  BARRIER;
  part[LOCAL_ID] = x;
  for (int step = GROUP / 2; step > 0; step /= 2) {
    BARRIER;
    if (LOCAL_ID < step) part[LOCAL_ID] += part[LOCAL_ID + step];
  }
  BARRIER;
  return part[0];
}
INLINE real group_max(real x, LOCAL real* part) {
  BARRIER;
  part[LOCAL_ID] = x;
  for (int step = GROUP / 2; step > 0; step /= 2) {
    BARRIER;
    if (LOCAL_ID < step && !(part[LOCAL_ID] >= part[LOCAL_ID + step]))
      part[LOCAL_ID] = part[LOCAL_ID + step];
  }
  BARRIER;
  return part[0];
}
)";

}  // namespace

std::string softmax_source(OpId op, DType dtype) {
  const bool is_grad = op == OpId::SoftmaxGrad || op == OpId::LogSoftmaxGrad;
  std::string body;
  if (!is_grad) {
    body = R"(
  real top = -INFINITY;
  for (int64 k = LOCAL_ID; k < n; k += GROUP) {
    real v = X(k);
    top = v > top || v != v ? v : top;
  }
  top = group_max(top, part);
  real sum = 0;
  for (int64 k = LOCAL_ID; k < n; k += GROUP) sum += exp(X(k) - top);
  sum = group_sum(sum, part);
)";
    body += op == OpId::Softmax
                ? "  for (int64 k = LOCAL_ID; k < n; k += GROUP) PUT(k, exp(X(k) - top) / sum);\n"
                : "  real log_sum = log(sum);\n"
                  "  for (int64 k = LOCAL_ID; k < n; k += GROUP) PUT(k, X(k) - top - log_sum);\n";
  } else {
    const bool is_log = op == OpId::LogSoftmaxGrad;
    body = fmt::format(R"(
  real sum = 0;
  for (int64 k = LOCAL_ID; k < n; k += GROUP) sum += X(k){};
  sum = group_sum(sum, part);
  for (int64 k = LOCAL_ID; k < n; k += GROUP) PUT(k, {});
)",
                       is_log ? "" : " * Y(k)",
                       is_log ? "X(k) - exp(Y(k)) * sum" : "(X(k) - sum) * Y(k)");
  }
  return fmt::format(R"({head}{group}
#define AT(k) (first + (k) * inner)
#define X(k) load_{dtype}(x + x_at, AT(k))
#define Y(k) load_{dtype}(y + y_at, AT(k))
#define PUT(k, v) store_{dtype}(out + out_at, AT(k), v)
KERNEL void rows(int64 num_rows, int64 n, int64 inner, GLOBAL uchar* out, int64 out_at,
                 GLOBAL const uchar* x, int64 x_at, GLOBAL const uchar* y, int64 y_at) {{
  LOCAL real part[GROUP];
  for (int64 row = GROUP_ID; row < num_rows; row += NUM_GROUPS) {{
  int64 first = row / inner * n * inner + row % inner;
{body}  }}
}}
)",
                     fmt::arg("head", head(dtype)), fmt::arg("group", kGroupFunctions),
                     fmt::arg("dtype", dtype_name(dtype)), fmt::arg("body", body));
}

std::string loss_source(OpId op, DType dtype, DType labels) {
  const bool is_sparse =
      op == OpId::SparseSoftmaxCrossEntropy || op == OpId::SparseSoftmaxCrossEntropyGrad;
  const bool is_grad =
      op == OpId::SoftmaxCrossEntropyGrad || op == OpId::SparseSoftmaxCrossEntropyGrad;
  std::string body;
  if (is_sparse) {
    body += fmt::format(R"(
  int64 label = load_{}(labels + labels_at, row);
  if (label < 0 || label >= n) {{  // no return: all work-items meet at the barriers below
    if (LOCAL_ID == 0) ATOMIC_MIN((GLOBAL int*)(bad + bad_at), (int)row);
    label = 0;
  }}
)",
                        dtype_name(labels));
  }
  body += R"(
  real top = -INFINITY;
  for (int64 k = LOCAL_ID; k < n; k += GROUP) {
    real v = X(k);
    top = v > top || v != v ? v : top;
  }
  top = group_max(top, part);
  real sum = 0;
  for (int64 k = LOCAL_ID; k < n; k += GROUP) sum += exp(X(k) - top);
  sum = group_sum(sum, part);
)";
  if (is_grad) {
    body += "  real d = D(row);\n  for (int64 k = LOCAL_ID; k < n; k += GROUP)\n    ";
    body += is_sparse
                ? "PUT(first + k, (exp(X(k) - top) / sum - (k == label ? T(1) : T(0))) * d);\n"
                : "PUT(first + k, (exp(X(k) - top) / sum - L(k)) * d);\n";
  } else if (is_sparse) {
    body += "  if (LOCAL_ID == 0) PUT(row, log(sum) + top - X(label));\n";
  } else {
    body += R"(
  real loss = 0, log_sum = log(sum);
  for (int64 k = LOCAL_ID; k < n; k += GROUP) {
    real l = L(k);
    loss += l == T(0) ? T(0) : l * (log_sum + top - X(k));
  }
  loss = group_sum(loss, part);
  if (LOCAL_ID == 0) PUT(row, loss);
)";
  }
  return fmt::format(R"({head}{group}
#define X(k) load_{dtype}(logits + logits_at, first + (k))
#define L(k) load_{dtype}(labels + labels_at, first + (k))
#define D(k) load_{dtype}(dloss + dloss_at, k)
#define PUT(k, v) store_{dtype}(out + out_at, k, v)
KERNEL void rows(int64 num_rows, int64 n, GLOBAL uchar* out, int64 out_at,
                 GLOBAL const uchar* dloss, int64 dloss_at, GLOBAL const uchar* logits,
                 int64 logits_at, GLOBAL const uchar* labels, int64 labels_at, GLOBAL uchar* bad,
                 int64 bad_at) {{
  LOCAL real part[GROUP];
  for (int64 row = GROUP_ID; row < num_rows; row += NUM_GROUPS) {{
  int64 first = row * n;
{body}  }}
}}
)",
                     fmt::arg("head", head(dtype)), fmt::arg("group", kGroupFunctions),
                     fmt::arg("dtype", dtype_name(dtype)), fmt::arg("body", body));
}

std::string matmul_source(DType dtype, bool transpose_a, bool transpose_b) {
  return fmt::format(
      R"({types}
typedef {real} real;
typedef {acc} acc_t;
KERNEL void matmul(int64 rows, int64 columns, int64 depth, int64 num, Walk batch,
                   GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* a, int64 a_at,
                   GLOBAL const uchar* b, int64 b_at) {{
  LOCAL real a_tile[TILE][TILE], b_tile[TILE][TILE];
  int64 tiles_across = (columns + TILE - 1) / TILE, tiles_down = (rows + TILE - 1) / TILE;
  for (int64 g = GROUP_ID; g < tiles_across * tiles_down * num; g += NUM_GROUPS) {{
  int64 matrix = g / (tiles_across * tiles_down);
  int64 a_first = walk_offset(batch, 0, matrix), b_first = walk_offset(batch, 1, matrix);
  int64 tile = g % (tiles_across * tiles_down);
  int r = LOCAL_ID / TILE, c = LOCAL_ID % TILE;
  int64 row = tile / tiles_across * TILE + r, column = tile % tiles_across * TILE + c;
  acc_t sum = 0;
  for (int64 k = 0; k < depth; k += TILE) {{
    a_tile[r][c] = row < rows && k + c < depth
                       ? load_{dtype}(a + a_at, a_first + {a_index}) : 0;
    b_tile[r][c] = k + r < depth && column < columns
                       ? load_{dtype}(b + b_at, b_first + {b_index}) : 0;
    BARRIER;
    for (int i = 0; i < TILE; ++i) sum += (acc_t)a_tile[r][i] * b_tile[i][c];
    BARRIER;
  }}
  if (row < rows && column < columns)
    store_{dtype}(out + out_at, (matrix * rows + row) * columns + column, (real)sum);
  }}
}}
)",
      fmt::arg("types", fmt::format("#define TILE {}\n{}", kMatMulTile, kTypes)),
      fmt::arg("real", compute_type(dtype)),
      fmt::arg("acc", is_floating(dtype) ? compute_type(dtype) : "int64"),
      fmt::arg("dtype", dtype_name(dtype)),
      fmt::arg("a_index", transpose_a ? "(k + c) * rows + row" : "row * depth + k + c"),
      fmt::arg("b_index", transpose_b ? "column * depth + k + r" : "(k + r) * columns + column"));
}

}  // namespace plimsoll::gpu

#include <fmt/format.h>

#include "backend/gpu/dialect.h"

namespace plimsoll::gpu {
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
    body += "  if (LOCAL_ID == 0) PUT(row, n > 0 ? log(sum) + top - X(label) : T(0));\n";
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

}  // namespace plimsoll::gpu

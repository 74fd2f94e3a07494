#include "ops/op_case.h"

#include <cmath>
#include <memory>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll::testing_ops {
namespace {

// Numbers from a fixed sequence, spread over [0, 1).
double next_random(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

double round_to(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return value;
    case DType::kFloat32:
      return static_cast<float>(value);
    case DType::kFloat16:
      return static_cast<float>(Half(static_cast<float>(value)));
    case DType::kBFloat16:
      return static_cast<float>(BFloat16(static_cast<float>(value)));
    case DType::kBool:
      return value != 0;
    default:
      return std::trunc(value);
  }
}

DType dtype_for(const Input& input, DType under_test) {
  switch (input.kind) {
    case Input::Kind::kDefault:
      return under_test;
    case Input::Kind::kInt32:
      return DType::kInt32;
    case Input::Kind::kInt64:
      return DType::kInt64;
    case Input::Kind::kBool:
      return DType::kBool;
    case Input::Kind::kUInt8:
      return DType::kUInt8;
  }
  return under_test;
}

template <class T>
Tensor make(const HostTensor& host) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto data = std::make_unique<bool[]>(host.values.size());
    for (std::size_t i = 0; i < host.values.size(); ++i) data[i] = host.values[i] != 0;
    return constant(std::span<const bool>(data.get(), host.values.size()), host.shape);
  } else {
    std::vector<T> data;
    for (const double v : host.values) {
      if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
        data.push_back(static_cast<T>(v));
      } else {
        data.push_back(T(static_cast<float>(v)));
      }
    }
    return constant(std::span<const T>(data), host.shape);
  }
}

template <class T>
std::vector<double> read(const Tensor& t) {
  std::vector<double> values;
  for (const auto v : t.to_vector<T>()) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      values.push_back(static_cast<float>(v));
    } else {
      values.push_back(static_cast<double>(v));
    }
  }
  return values;
}

// Adds to the diagonals and mirrors the lower triangles, as the input asks.
void shape_matrices(const Input& input, HostTensor& t) {
  if (input.diagonal == 0 && !input.is_symmetric) return;
  const auto columns = static_cast<std::size_t>(t.shape.dim(t.shape.rank() - 1));
  const auto rows = static_cast<std::size_t>(t.shape.dim(t.shape.rank() - 2));
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const std::size_t row = k / columns % rows, column = k % columns;
    if (row == column) t.values[k] = round_to(t.values[k] + input.diagonal, t.dtype);
    if (input.is_symmetric && column > row) t.values[k] = t.values[mirrored(t.shape, k)];
  }
}

}  // namespace

std::size_t mirrored(const Shape& shape, std::size_t k) {
  const auto n = static_cast<std::size_t>(shape.dim(shape.rank() - 1));
  const std::size_t row = k / n % n, column = k % n;
  return k - row * n - column + column * n + row;
}

std::vector<HostTensor> make_inputs(const OpCase& op_case, DType dtype) {
  std::vector<HostTensor> made;
  std::uint64_t state = 12345;  // by the op's name, so that other ops do not change the numbers
  for (const char letter : op_name(op_case.op))
    state = state * 31 + static_cast<unsigned char>(letter);
  for (const Input& input : op_case.in) {
    const DType own = dtype_for(input, dtype);
    HostTensor t{input.shape, {}, own};
    const double lo =
        own == DType::kUInt8 || own == DType::kUInt16 ? std::max(input.lo, 0.0) : input.lo;
    for (std::int64_t i = 0; i < input.shape.num_elements(); ++i) {
      const double value = !input.values.empty()
                               ? input.values[static_cast<std::size_t>(i) % input.values.size()]
                               : lo + (input.hi - lo) * next_random(state);
      t.values.push_back(round_to(
          own == DType::kBool && input.values.empty() ? (next_random(state) < 0.5) : value, own));
    }
    shape_matrices(input, t);
    made.push_back(std::move(t));
  }
  return made;
}

Tensor to_device(const HostTensor& host) {
  switch (host.dtype) {
    case DType::kFloat32:
      return make<float>(host);
    case DType::kFloat64:
      return make<double>(host);
    case DType::kFloat16:
      return make<Half>(host);
    case DType::kBFloat16:
      return make<BFloat16>(host);
    case DType::kInt8:
      return make<std::int8_t>(host);
    case DType::kUInt8:
      return make<std::uint8_t>(host);
    case DType::kInt16:
      return make<std::int16_t>(host);
    case DType::kUInt16:
      return make<std::uint16_t>(host);
    case DType::kInt32:
      return make<std::int32_t>(host);
    case DType::kInt64:
      return make<std::int64_t>(host);
    case DType::kBool:
      return make<bool>(host);
    case DType::kString:
      break;
  }
  return {};
}

HostTensor to_host(const Tensor& t) {
  HostTensor host{t.shape(), {}, t.dtype()};
  switch (t.dtype()) {
    case DType::kFloat32:
      host.values = read<float>(t);
      break;
    case DType::kFloat64:
      host.values = read<double>(t);
      break;
    case DType::kFloat16:
      host.values = read<Half>(t);
      break;
    case DType::kBFloat16:
      host.values = read<BFloat16>(t);
      break;
    case DType::kInt8:
      host.values = read<std::int8_t>(t);
      break;
    case DType::kUInt8:
      host.values = read<std::uint8_t>(t);
      break;
    case DType::kInt16:
      host.values = read<std::int16_t>(t);
      break;
    case DType::kUInt16:
      host.values = read<std::uint16_t>(t);
      break;
    case DType::kInt32:
      host.values = read<std::int32_t>(t);
      break;
    case DType::kInt64:
      host.values = read<std::int64_t>(t);
      break;
    case DType::kBool:
      host.values = read<bool>(t);
      break;
    case DType::kString:
      break;
  }
  return host;
}

double activated(const AttrValue& activation, double x) {
  if (activation.as_int() == 0) return x;
  return activation.as_int() == 1 ? std::max(x, 0.0) : std::clamp(x, 0.0, 6.0);
}

Tensor gradient_weights(const OpCase& c, const TensorSpec& output) {
  if (output.dtype != DType::kFloat64) return {};
  const OpCase weights{.name = "w", .op = c.op, .in = {{output.shape, 0.5, 1.5}}};
  return to_device(make_inputs(weights, DType::kFloat64)[0]);
}

std::vector<Tensor> outputs_and_gradients(const OpCase& c, std::span<const Tensor> in,
                                          bool with_gradients) {
  GradientTape tape;
  for (const Tensor& t : in) {
    if (is_floating(t.dtype())) tape.watch(t);
  }
  std::vector<Tensor> out = call_all(c.op, in, c.attrs);
  if (!with_gradients || !op_def(c.op).grad || !c.has_grad) return out;
  Tensor sum;
  for (const Tensor& t : out) {
    const Tensor weights = gradient_weights(c, {t.dtype(), t.shape()});
    if (!weights.is_valid()) continue;
    const Tensor part = reduce_sum(t * weights);
    sum = sum.is_valid() ? sum + part : part;
  }
  for (Tensor& t : tape.gradient(std::span(&sum, 1), in, {}, UnconnectedGradients::kNone))
    out.push_back(std::move(t));
  return out;
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-12;
    case DType::kFloat32:
      return 2e-6;
    case DType::kFloat16:
      return 2e-3;
    case DType::kBFloat16:
      return 1.6e-2;
    default:
      return 0;
  }
}

std::vector<HostTensor> RefCall::map1(const std::function<double(double)>& f) const {
  HostTensor out{in[0].shape, {}};
  for (const double x : in[0].values) out.values.push_back(f(x));
  return {out};
}

std::vector<HostTensor> RefCall::map2(const std::function<double(double, double)>& f) const {
  const Shape shape = broadcast_shapes(in[0].shape, in[1].shape, "test");
  HostTensor out{shape, {}};
  const auto pick = [&](const HostTensor& t, std::int64_t index) {
    std::int64_t at = 0, stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const std::int64_t i = index % shape.dim(d);
      index /= shape.dim(d);
      const int own = d - (shape.rank() - t.shape.rank());
      if (own < 0) continue;
      if (t.shape.dim(own) != 1) at += i * stride;
      stride *= t.shape.dim(own);
    }
    return t.values[static_cast<std::size_t>(at)];
  };
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    out.values.push_back(f(pick(in[0], i), pick(in[1], i)));
  return {out};
}

const std::vector<OpCase>& all_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all;
    for (const auto& family : {create_cases(),
                               elementwise_cases(),
                               reduce_cases(),
                               shape_cases(),
                               matmul_cases(),
                               linalg_cases(),
                               linalg_decompose_cases(),
                               conv_cases(),
                               conv3d_cases(),
                               pool_cases(),
                               norm_cases(),
                               rnn_cases(),
                               softmax_cases(),
                               attention_cases(),
                               gather_cases(),
                               scatter_cases(),
                               segment_cases(),
                               search_cases(),
                               resize_cases(),
                               random_cases(),
                               random_distribution_cases(),
                               debugging_cases()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return cases;
}

}  // namespace plimsoll::testing_ops

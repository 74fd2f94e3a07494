// One row per sample call of an op. The table drives every check of tests/ops: forward against a
// reference in double, gradients against finite differences, exact scratch with canaries behind it,
// aliasing, empty tensors, every dtype, repeatability, and memory that ends at each reservation.
//
//   {.name = "broadcast", .op = OpId::Add, .in = {{{2, 3}}, {{3}}},
//    .ref = [](const RefCall& c) { return c.map2([](double x, double y) { return x + y; }); }},
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace plimsoll::testing_ops {

// A tensor on the host, in double.
struct HostTensor {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::kFloat64;
};

// How an input of a case is made: pseudo-random numbers from lo to hi, the same in every run.
struct Input {
  Shape shape;
  double lo = -2;
  double hi = 2;
  // kDefault: the dtype under test. Others stay as they are: indices, conditions.
  enum class Kind { kDefault, kInt32, kInt64, kBool, kUInt8 } kind = Kind::kDefault;
  std::vector<double> values;  // given numbers instead of random ones
  // Matrices: what is added to their diagonal, and whether they are made symmetric; then finite
  // differences move an element together with its mirror image.
  double diagonal = 0;
  bool is_symmetric = false;
};

struct RefCall {
  const std::vector<HostTensor>& in;
  const Attrs& attrs;

  // One input, or two that broadcast, element by element.
  std::vector<HostTensor> map1(const std::function<double(double)>& f) const;
  std::vector<HostTensor> map2(const std::function<double(double, double)>& f) const;
};

struct OpCase {
  std::string name;  // of the case, unique for its op
  OpId op;
  std::vector<Input> in;
  Attrs attrs{};
  std::function<std::vector<HostTensor>(const RefCall&)> ref;
  std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat64};
  bool has_grad = true;  // check it against finite differences, where the op has one
  double tolerance = 1;  // times what the dtype allows
  // What of the outputs is held against the reference, where they are not determined; null: they.
  std::function<std::vector<HostTensor>(const std::vector<HostTensor>&)> compared = nullptr;
};

// The tables, by family; all_cases() is all of them.
std::vector<OpCase> create_cases();
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> reduce_cases();
std::vector<OpCase> shape_cases();
std::vector<OpCase> matmul_cases();
std::vector<OpCase> linalg_cases();
std::vector<OpCase> linalg_decompose_cases();
std::vector<OpCase> conv_cases();
std::vector<OpCase> conv3d_cases();
std::vector<OpCase> pool_cases();
std::vector<OpCase> norm_cases();
std::vector<OpCase> rnn_cases();
std::vector<OpCase> softmax_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> gather_cases();
std::vector<OpCase> scatter_cases();
std::vector<OpCase> segment_cases();
std::vector<OpCase> search_cases();
std::vector<OpCase> resize_cases();
std::vector<OpCase> random_cases();
std::vector<OpCase> random_distribution_cases();
std::vector<OpCase> debugging_cases();
const std::vector<OpCase>& all_cases();

inline const std::vector<DType> kFloatTypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                               DType::kBFloat16};
inline const std::vector<DType> kNumberTypes = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
    DType::kUInt8,   DType::kInt16,   DType::kUInt16,  DType::kInt32,    DType::kInt64};

// An activation by its number (ops/activation_kind.h).
double activated(const AttrValue& activation, double x);

// The place of the mirror image of element k in a batch of square matrices.
std::size_t mirrored(const Shape& shape, std::size_t k);
// The inputs of a case as the dtype under test sees them (already rounded to it).
std::vector<HostTensor> make_inputs(const OpCase& op_case, DType dtype);
Tensor to_device(const HostTensor& host);
HostTensor to_host(const Tensor& tensor);
// A call's outputs and, if wanted and there are any, the gradients of sum(w * output) by its inputs
// (an empty Tensor for those that have none); w as gradient_weights() makes it.
std::vector<Tensor> outputs_and_gradients(const OpCase& op_case, std::span<const Tensor> in,
                                          bool with_gradients);
// Numbers from 0.5 to 1.5 for an output of type float64; an empty Tensor for others.
Tensor gradient_weights(const OpCase& op_case, const TensorSpec& output);
// How far a result in this dtype may be from the reference, relative to the values' size.
double tolerance_of(DType dtype);

}  // namespace plimsoll::testing_ops

// Tensors without values, of which functional models are made; and what a layer is called on.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/json.h"
#include "plimsoll/nest.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

inline constexpr std::int64_t kNone = -1;  // a dimension that is not known yet

// A shape of which some dimensions are not known.
class PartialShape {
 public:
  PartialShape() noexcept = default;
  PartialShape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit PartialShape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  PartialShape(const Shape& shape) : dims_(shape.dims().begin(), shape.dims().end()) {}

  int rank() const noexcept { return static_cast<int>(dims_.size()); }
  // From the end, if negative. pre: there is such a dimension.
  std::int64_t operator[](int axis) const noexcept {
    return dims_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  std::int64_t& operator[](int axis) noexcept {
    return dims_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  const std::vector<std::int64_t>& dims() const noexcept { return dims_; }
  bool is_known() const noexcept;            // in all dimensions
  Shape with_unknown(std::int64_t n) const;  // n wherever it is not known
  std::string to_string() const;             // (None, 28, 28, 1)
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};
Json to_config(const PartialShape& shape);
void from_config(const Json& json, PartialShape& shape);

using Shapes = Nest<PartialShape>;

struct Node;  // internal: a call of a layer
struct KerasTensorState;

class KerasTensor {
 public:
  KerasTensor(PartialShape shape, DType dtype, std::string name = "");

  const PartialShape& shape() const noexcept;
  DType dtype() const noexcept;
  const std::string& name() const noexcept;

  const std::shared_ptr<KerasTensorState>& state() const noexcept { return state_; }  // internal
  explicit KerasTensor(std::shared_ptr<KerasTensorState> state) noexcept              // internal
      : state_(std::move(state)) {}
  // Whether they are the same result of the same call.
  friend bool operator==(const KerasTensor& a, const KerasTensor& b) noexcept;

 private:
  std::shared_ptr<KerasTensorState> state_;
};

// A tensor with values or one without.
class Value {
 public:
  Value(Tensor tensor) : value_(std::move(tensor)) {}
  Value(KerasTensor tensor) : value_(std::move(tensor)) {}

  bool is_symbolic() const noexcept { return value_.index() == 1; }
  // throws: InvalidArgumentError if it is the other kind.
  const Tensor& tensor() const;
  const KerasTensor& symbolic() const;
  operator const Tensor&() const { return tensor(); }
  operator const KerasTensor&() const { return symbolic(); }

  DType dtype() const noexcept;
  PartialShape shape() const;

 private:
  std::variant<Tensor, KerasTensor> value_;
};

}  // namespace plimsoll::keras

namespace plimsoll {
template <>
inline constexpr bool kReadsAs<keras::Value, Tensor> = true;
template <>
inline constexpr bool kReadsAs<keras::Value, keras::KerasTensor> = true;
}  // namespace plimsoll

namespace plimsoll::keras {

using Nested = Nest<Value>;

Shapes shapes_of(const Nested& values);

}  // namespace plimsoll::keras

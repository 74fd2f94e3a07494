// What an op means: its shape and type rule, its gradient, what its output may overwrite. No
// kernels and no devices here.
//
//   const OpDef op_Softmax{
//       .infer = infer_softmax,
//       .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::SoftmaxGrad, {g.dout(0), g.out(0)},
//       g.attrs())); }, .may_alias = Alias::kIn0,
//   };
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "ops/op_id.h"
#include "plimsoll/tensor.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll {

inline constexpr int kMaxFixedOut = 6;  // outputs of an op that is not variadic

// The specs that a shape rule makes.
class OutSpecs {
 public:
  void add(DType dtype, const Shape& shape);
  int size() const noexcept { return num_; }
  const TensorSpec& operator[](int i) const noexcept {
    return more_.empty() ? few_[static_cast<std::size_t>(i)] : more_[static_cast<std::size_t>(i)];
  }
  std::span<const TensorSpec> all() const noexcept {
    return more_.empty() ? std::span<const TensorSpec>(few_.data(), static_cast<std::size_t>(num_))
                         : std::span<const TensorSpec>(more_);
  }

 private:
  int num_ = 0;
  std::array<TensorSpec, kMaxFixedOut> few_;
  std::vector<TensorSpec> more_;  // all of them, when they are more
};

// What a shape rule sees. It throws InvalidArgumentError for what does not go together.
struct InferCtx {
  OpId op;
  const Attrs& attrs;
  std::span<const TensorSpec> in;
  OutSpecs& out;

  std::string_view name() const noexcept { return op_name(op); }
};

// What a gradient sees. It asks for values (which are then kept for it), and emits ops.
class GradCtx {
 public:
  virtual ~GradCtx() = default;

  virtual int num_in() const noexcept = 0;
  virtual int num_out() const noexcept = 0;
  virtual const Attrs& attrs() const noexcept = 0;
  virtual const TensorSpec& in_spec(int i) const noexcept = 0;
  virtual const TensorSpec& out_spec(int i) const noexcept = 0;
  virtual bool needs(int i) const noexcept = 0;  // whether somebody wants the gradient of input i

  virtual Tensor in(int i) = 0;    // the value of an input: kept since the forward call
  virtual Tensor out(int i) = 0;   // likewise of an output
  virtual Tensor dout(int i) = 0;  // the gradient of an output; zeros where nothing came
  virtual bool has_dout(int i) const noexcept = 0;

  virtual std::vector<Tensor> emit_all(OpId op, std::span<const Tensor> in, const Attrs& attrs) = 0;
  Tensor emit(OpId op, std::initializer_list<Tensor> in, const Attrs& attrs = {}) {
    return emit_all(op, {in.begin(), in.size()}, attrs)[0];
  }
  // A scalar of a type, for formulas.
  virtual Tensor scalar(double value, DType dtype) = 0;

  virtual void set_din(int i, const Tensor& gradient) = 0;
};

enum class Alias : std::uint8_t {
  kNone,
  kIn0,  // the output may be written over input 0 (same bytes), element by element
  kIn1,
  kAnyIn,  // over any input of its own shape and type
};

// Which calls can end with an error that depends on values.
enum class Fails : std::uint8_t { kNever, kIntegers, kAlways };

struct OpDef {
  void (*infer)(InferCtx&) = nullptr;
  void (*grad)(GradCtx&) = nullptr;  // null: no gradient flows through
  Alias may_alias = Alias::kNone;
  bool is_view = false;         // the output is input 0's buffer under another shape: no kernel
  bool is_random = false;       // draws from a counter: never merged with its like
  Fails fails = Fails::kNever;  // in plans, no variable changes before such a call
  bool is_effect = false;       // prints or refuses: is kept, and in its place among its like
};

const OpDef& op_def(OpId op) noexcept;

// Shape rules that many ops share.
void infer_same_as_in0(InferCtx& ctx);

}  // namespace plimsoll

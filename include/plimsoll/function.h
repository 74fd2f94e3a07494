// Functions that are traced once and then run by plan: the peak is known before the run, and a run
// takes its memory in one step.
//
//   tf::Variable w(...);
//   auto step = tf::function([&](const tf::Tensor& x, const tf::Tensor& y) {
//     tf::GradientTape tape;
//     tf::Tensor loss = tf::reduce_mean(tf::square(tf::matmul(x, w) - y));
//     w.assign_sub(0.1F * tape.gradient(loss, w.value()));
//     return loss;
//   });
//   step.plan({{tf::float32, {32, 10}}, {tf::float32, {32, 1}}}).peak_bytes;  // runs nothing
//   tf::Tensor loss = step(x, y);                                             // traced at the
//   first call
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "plimsoll/memory_plan.h"
#include "plimsoll/tensor.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll {

struct FunctionState;  // internal

struct FunctionOptions {
  std::string name = "function";
  int max_traces = 64;  // signatures kept; the one not used for longest goes
  // Runs in the arenas of this one, for functions that take turns: training and evaluation.
  const class Function* shares_arenas_with = nullptr;
};

class Function {
 public:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  explicit Function(Body body, FunctionOptions options = {});

  // Runs, tracing first if there is no trace for these shapes and types yet.
  // memory: reserves the plan's arena and outputs in one step; the arena stays, idle, until the
  // function dies, on trim(), or when another reservation needs room.
  // throws: ResourceExhaustedError before anything has run or changed; what the body throws.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;
  // The same into given handles: takes no memory of its own from the second call on.
  // pre: outputs are as many as the function returns.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;

  // What a call with such inputs would cost. Runs nothing and reserves nothing.
  MemoryPlan plan(std::span<const TensorSpec> inputs) const;
  MemoryPlan plan(std::initializer_list<TensorSpec> inputs) const {
    return plan(std::span(inputs.begin(), inputs.size()));
  }

  // Traces and prepares a call with such inputs, without running it: its kernels and constants are
  // there afterwards, and the plan says what the call itself will take.
  // throws: ResourceExhaustedError for kernels and constants; what the body throws.
  MemoryPlan prepare(std::span<const TensorSpec> inputs) const;

  const std::string& name() const noexcept;
  int num_traces() const;  // signatures that are kept now
  // The graph of such a call after all passes, a line per node.
  std::string graph_text(std::span<const TensorSpec> inputs) const;
  void trim() const noexcept;  // gives back idle arenas, and memory kept for results

  FunctionState* state() const noexcept { return state_.get(); }  // internal

 private:
  std::shared_ptr<FunctionState> state_;
};

namespace internal {

inline std::vector<Tensor> to_list(Tensor t) {
  return {std::move(t)};
}
inline std::vector<Tensor> to_list(std::vector<Tensor> list) {
  return list;
}

template <class F, std::size_t... I>
auto call_with(F& f, [[maybe_unused]] std::span<const Tensor> in, std::index_sequence<I...>) {
  return f(in[I]...);
}
template <std::size_t, class T>
using Repeated = T;
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, Repeated<I, const Tensor&>...>;
}
void check_num_inputs(std::size_t received, std::size_t expected);

template <std::size_t N, class F>
std::vector<Tensor> call_body(F& f, std::span<const Tensor> in) {
  static_assert(N <= 12, "a function takes up to 12 tensors, or a std::span<const Tensor>");
  if constexpr (takes<F>(std::make_index_sequence<N>())) {
    check_num_inputs(in.size(), N);
    using Result = decltype(call_with(f, in, std::make_index_sequence<N>()));
    if constexpr (std::is_void_v<Result>) {
      call_with(f, in, std::make_index_sequence<N>());
      return {};
    } else {
      return to_list(call_with(f, in, std::make_index_sequence<N>()));
    }
  } else {
    return call_body<N + 1>(f, in);
  }
}

// A callable of tensors, or of a std::span<const Tensor>, as a function of a list.
template <class F>
Function::Body as_body(F f) {
  return [f = std::move(f)](std::span<const Tensor> in) mutable -> std::vector<Tensor> {
    if constexpr (std::is_invocable_v<F&, std::span<const Tensor>>) {
      return to_list(f(in));
    } else {
      return call_body<0>(f, in);
    }
  };
}

}  // namespace internal

// A Function with the call operator of the callable it was made of.
template <class F>
class TypedFunction : public Function {
 public:
  TypedFunction(F f, FunctionOptions options)
      : Function(internal::as_body(std::move(f)), std::move(options)) {}

  using Function::operator();
  template <class... T>
  requires(std::is_convertible_v<const T&, const Tensor&>&&...) auto operator()(
      const T&... inputs) const {
    const std::vector<Tensor> in{static_cast<const Tensor&>(inputs)...};
    std::vector<Tensor> out = Function::operator()(std::span<const Tensor>(in));
    if constexpr (std::is_invocable_v<F, std::conditional_t<true, const Tensor&, T>...>) {
      using Result = std::invoke_result_t<F, std::conditional_t<true, const Tensor&, T>...>;
      if constexpr (std::is_same_v<Result, Tensor>) {
        return out[0];
      } else if constexpr (!std::is_void_v<Result>) {
        return out;
      }
    } else {
      return out;
    }
  }
};

// Makes a function of a callable that takes tensors (or one std::span<const Tensor>) and returns a
// Tensor, a std::vector<Tensor> or nothing.
template <class F>
TypedFunction<F> function(F f, FunctionOptions options = {}) {
  return TypedFunction<F>(std::move(f), std::move(options));
}

inline MemoryPlan plan(const Function& f, std::span<const TensorSpec> inputs) {
  return f.plan(inputs);
}
inline MemoryPlan plan(const Function& f, std::initializer_list<TensorSpec> inputs) {
  return f.plan(inputs);
}

// Names what is recorded while it lives, for plans and dumps: tf::name_scope scope("conv1");
class name_scope {
 public:
  explicit name_scope(const std::string& name);
  ~name_scope();
  name_scope(const name_scope&) = delete;
  name_scope& operator=(const name_scope&) = delete;

 private:
  std::size_t outer_size_;
};

}  // namespace plimsoll

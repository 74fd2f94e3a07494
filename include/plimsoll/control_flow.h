// Branches and loops on values. Eagerly they just run. In a function each becomes one node, whose
// bodies are planned with the rest: the peak is known before the run.
//
//   tf::Tensor y = tf::cond(
//       tf::greater(tf::reduce_sum(x), zero), [&] { return x; }, [&] { return tf::negative(x); });
//
//   tf::Tensor root = tf::while_loop(
//       [&](const tf::Tensor& r) { return tf::greater(tf::abs(r * r - a), tolerance); },
//       [&](const tf::Tensor& r) { return (r + a / r) * 0.5F; }, a, {.maximum_iterations = 100});
//
//   tf::Tensor sums = tf::scan(
//       [](const tf::Tensor& sum, const tf::Tensor& x) { return sum + x; }, xs, zero);
//
// Bodies may use tensors and variables from outside, assign variables and draw random numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plimsoll/function.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

struct WhileLoopOptions {
  // In a function a loop needs it to be differentiated.
  std::optional<std::int64_t> maximum_iterations = {};
};
struct ScanOptions {
  bool reverse = false;  // from the last element to the first
};

namespace internal {

using BranchFn = std::function<std::vector<Tensor>()>;
std::vector<Tensor> cond(const Tensor& pred, const BranchFn& true_fn, const BranchFn& false_fn);
std::vector<Tensor> while_loop(const Function::Body& cond, const Function::Body& body,
                               const std::vector<Tensor>& loop_vars,
                               const WhileLoopOptions& options);

// One tensor where the callable returns one, a list where it returns a list.
template <class Result>
auto as_result(std::vector<Tensor> made) {
  if constexpr (std::is_same_v<Result, Tensor>) {
    return made[0];
  } else if constexpr (!std::is_void_v<Result>) {
    return made;
  }
}

}  // namespace internal

// What one of the two returns: a Tensor, a std::vector<Tensor> or nothing. Both must return the
// same shapes and types.
// throws: InvalidArgumentError if pred is not one bool, or if the branches do not agree.
template <class TrueFn, class FalseFn>
auto cond(const Tensor& pred, TrueFn true_fn, FalseFn false_fn) {
  using Result = std::decay_t<std::invoke_result_t<TrueFn&>>;
  return internal::as_result<Result>(internal::cond(
      pred, [&] { return internal::call_body<0>(true_fn, {}); },
      [&] { return internal::call_body<0>(false_fn, {}); }));
}

// Runs `body` on the loop variables while `cond` of them holds. Both take as many tensors as there
// are loop variables, or one std::span<const Tensor>; the body returns their next values, of the
// same shapes and types.
// memory: in a function a second buffer for each loop variable, and one body.
// throws: InvalidArgumentError.
template <class Cond, class Body>
std::vector<Tensor> while_loop(Cond cond, Body body, const std::vector<Tensor>& loop_vars,
                               const WhileLoopOptions& options = {}) {
  return internal::while_loop(internal::as_body(std::move(cond)),
                              internal::as_body(std::move(body)), loop_vars, options);
}
template <class Cond, class Body>
Tensor while_loop(Cond cond, Body body, const Tensor& loop_var,
                  const WhileLoopOptions& options = {}) {
  return while_loop(std::move(cond), std::move(body), std::vector<Tensor>{loop_var}, options)[0];
}

// accumulator = fn(accumulator, element) for each element along the first axis; the accumulators,
// stacked. Without an initializer the first element is the first accumulator.
// throws: InvalidArgumentError if fn does not keep the accumulator's shape and type.
Tensor scan(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
            const Tensor& initializer = {}, const ScanOptions& options = {});
using ScanFn =
    std::function<std::vector<Tensor>(std::span<const Tensor> a, std::span<const Tensor> x)>;
std::vector<Tensor> scan(const ScanFn& fn, const std::vector<Tensor>& elems,
                         const std::vector<Tensor>& initializer = {},
                         const ScanOptions& options = {});

// fn of each element along the first axis, stacked.
Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems);
std::vector<Tensor> map_fn(const Function::Body& fn, const std::vector<Tensor>& elems);

}  // namespace plimsoll

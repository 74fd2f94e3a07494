#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, std::string_view side,
                    DType out_type) {
  PLIMSOLL_CHECK(side == "left" || side == "right", InvalidArgumentError,
                 "Argument `side` must be either 'right' or 'left'. Received: side={}.", side);
  return call(OpId::SearchSorted, {sorted_sequence, values}, {side == "right", out_type});
}

namespace math {
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k) {
  return call(OpId::InTopK, {predictions, targets}, {k});
}
}  // namespace math

}  // namespace plimsoll

// Values that a shape depends on.
#pragma once

#include "base/check.h"
#include "plimsoll/ops/create.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

// throws: FailedPreconditionError that names the op, and `instead` of it, for a tensor whose value
// is not known yet because its function is traced.
inline void check_known(const Tensor& value, const char* op, const char* instead) {
  PLIMSOLL_CHECK(value.impl()->buffer, FailedPreconditionError,
                 "the shape of what {} gives depends on values, which are not known while a "
                 "function is traced. {}",
                 op, instead);
}
// An integer scalar. throws: as check_known.
inline std::int64_t known_int(const Tensor& scalar, const char* op, const char* instead) {
  const Tensor wide = cast(scalar, int64);
  check_known(wide, op, instead);
  return wide.item<std::int64_t>();
}

}  // namespace plimsoll

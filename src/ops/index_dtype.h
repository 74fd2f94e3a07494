// What indices may be.
#pragma once

#include "base/check.h"
#include "ops/op_def.h"

namespace plimsoll {

// `attribute` is TensorFlow's name for the type. throws: InvalidArgumentError unless input i is of
// type int32 or int64.
inline void check_index_dtype(const InferCtx& ctx, std::size_t i,
                              const char* attribute = "Tindices") {
  const DType dtype = ctx.in[i].dtype;
  PLIMSOLL_CHECK(dtype == DType::kInt32 || dtype == DType::kInt64, InvalidArgumentError,
                 "Value for attr '{}' of {} is not in the list of allowed values: int32, int64 "
                 "[Op:{}]",
                 attribute, dtype_word(dtype), ctx.name());
}

}  // namespace plimsoll

// The expressions of scalar_ops.def as text, for devices that compile their kernels at run time.
#pragma once

#include <string_view>

#include "backend/api/kernel.h"

namespace plimsoll::gpu {

inline constexpr DTypeSet kFloats{DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                  DType::kBFloat16};
inline constexpr DTypeSet kIntegers{DType::kInt8,   DType::kUInt8, DType::kInt16,
                                    DType::kUInt16, DType::kInt32, DType::kInt64};
inline constexpr DTypeSet kNumbers{
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
    DType::kUInt8,   DType::kInt16,   DType::kUInt16,  DType::kInt32,    DType::kInt64};
inline constexpr DTypeSet kAll{DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                               DType::kInt8,    DType::kUInt8,   DType::kInt16,   DType::kUInt16,
                               DType::kInt32,   DType::kInt64,   DType::kBool};
inline constexpr DTypeSet kBools{DType::kBool};

struct Expression {
  OpId op;
  int num_operands;  // x, then y, then z
  bool is_bool;      // the result is, whatever the operands are
  DTypeSet dtypes;   // of the operands; no integers where some of them are errors
  std::string_view text;
};

std::span<const Expression> expressions() noexcept;
// Null: the op is no expression.
const Expression* find_expression(OpId op) noexcept;

}  // namespace plimsoll::gpu

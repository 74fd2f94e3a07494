#include "plimsoll/error.h"

namespace plimsoll {

const char* error_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgumentError";
    case ErrorCode::kNotFound:
      return "NotFoundError";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhaustedError";
    case ErrorCode::kFailedPrecondition:
      return "FailedPreconditionError";
    case ErrorCode::kUnimplemented:
      return "UnimplementedError";
    case ErrorCode::kInternal:
      return "InternalError";
    case ErrorCode::kDataLoss:
      return "DataLossError";
  }
  return "Error";
}

}  // namespace plimsoll

// Errors of Plimsoll. Names are TensorFlow's, so that `tf::errors`-shaped code reads the same.
//
// A message says what was asked, what was received and what would work: one line, then details
// on lines of their own.
#pragma once

#include <stdexcept>
#include <string>

namespace plimsoll {

// Numbers are those of TensorFlow's (and gRPC's) status codes.
enum class ErrorCode : int {
  kInvalidArgument = 3,
  kNotFound = 5,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kDataLoss = 15,
};

// "InvalidArgumentError" and so on: the class that carries `code`.
const char* error_name(ErrorCode code) noexcept;

// Base of everything that Plimsoll throws on purpose.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }
  const char* name() const noexcept { return error_name(code_); }

 private:
  ErrorCode code_;
};

#define PLIMSOLL_ERROR_CLASS(Name)                                                           \
  class Name##Error : public Error {                                                         \
   public:                                                                                   \
    explicit Name##Error(const std::string& message) : Error(ErrorCode::k##Name, message) {} \
  }

PLIMSOLL_ERROR_CLASS(InvalidArgument);
PLIMSOLL_ERROR_CLASS(NotFound);
PLIMSOLL_ERROR_CLASS(ResourceExhausted);
PLIMSOLL_ERROR_CLASS(FailedPrecondition);
PLIMSOLL_ERROR_CLASS(Unimplemented);
PLIMSOLL_ERROR_CLASS(Internal);
PLIMSOLL_ERROR_CLASS(DataLoss);

#undef PLIMSOLL_ERROR_CLASS

}  // namespace plimsoll

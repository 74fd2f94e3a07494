#include "plimsoll/error.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace plimsoll {
namespace {

template <class E>
void expect_error(ErrorCode code, const char* name) {
  try {
    throw E("what happened");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_STREQ(e.name(), name);
    EXPECT_STREQ(e.what(), "what happened");
  }
}

TEST(ErrorTest, EveryClassIsCaughtAsErrorAndKnowsItsName) {
  expect_error<InvalidArgumentError>(ErrorCode::kInvalidArgument, "InvalidArgumentError");
  expect_error<NotFoundError>(ErrorCode::kNotFound, "NotFoundError");
  expect_error<ResourceExhaustedError>(ErrorCode::kResourceExhausted, "ResourceExhaustedError");
  expect_error<FailedPreconditionError>(ErrorCode::kFailedPrecondition, "FailedPreconditionError");
  expect_error<UnimplementedError>(ErrorCode::kUnimplemented, "UnimplementedError");
  expect_error<InternalError>(ErrorCode::kInternal, "InternalError");
  expect_error<DataLossError>(ErrorCode::kDataLoss, "DataLossError");
}

TEST(ErrorTest, CodesAreTensorFlowsNumbers) {
  EXPECT_EQ(static_cast<int>(ErrorCode::kInvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::kResourceExhausted), 8);
  EXPECT_EQ(static_cast<int>(ErrorCode::kFailedPrecondition), 9);
}

TEST(ErrorTest, ErrorsAreRuntimeErrors) {
  EXPECT_THROW(throw NotFoundError("x"), std::runtime_error);
}

TEST(CheckTest, ThrowsTheNamedErrorWithTheFormattedMessage) {
  try {
    PLIMSOLL_CHECK(1 + 1 == 3, InvalidArgumentError, "{} is not {}", 2, "three");
    FAIL() << "no error";
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.what(), "2 is not three");
  }
}

TEST(CheckTest, EvaluatesTheConditionOnceAndTheMessageOnlyOnFailure) {
  int conditions = 0, messages = 0;
  PLIMSOLL_CHECK(++conditions == 1, InternalError, "{}", ++messages);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

}  // namespace
}  // namespace plimsoll

#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> conv_cases() {
  return {};
}

}  // namespace plimsoll::testing_ops

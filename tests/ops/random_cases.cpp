#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> random_cases() {
  return {};
}

}  // namespace plimsoll::testing_ops

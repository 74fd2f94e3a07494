#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> pool_cases() {
  return {};
}

}  // namespace plimsoll::testing_ops

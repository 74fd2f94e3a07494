// Recurrent layers and their gradients in double, a row and a unit at a time.
#pragma once

#include "ops/op_case.h"

namespace plimsoll::testing_ops {

// The outputs of an op of the family, as its shape rule orders them.
std::vector<HostTensor> rnn_reference(OpId op, const RefCall& call);

}  // namespace plimsoll::testing_ops

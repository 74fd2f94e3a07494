// Ops on tensors of strings, which stand on the host where no kernel sees them.
//
// Ops that only move elements run on the numbers of the strings instead, with the kernels that
// numbers have, and strings are taken by what comes out. Equal and NotEqual compare, and Add
// joins, what stands at the numbers once those are broadcast.
#pragma once

#include <span>

#include "ops/attrs.h"
#include "ops/op_def.h"
#include "ops/op_id.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

bool is_op_of_strings(OpId op) noexcept;

// Fills `out`, as the op's shape rule has it in `specs`. memory: results, as booked by
// StringBuilder; for the time of the call 8 bytes for each string that goes in
// or comes out, and 16 for each result of a comparison or an Add.
// pre: is_op_of_strings; some input is of strings; nothing is traced.
// throws: as the op; ResourceExhaustedError.
void call_on_strings(OpId op, std::span<const Tensor> in, const Attrs& attrs,
                     std::span<const TensorSpec> specs, std::span<Tensor> out);

}  // namespace plimsoll

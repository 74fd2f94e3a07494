// Places in order: where a value goes, and whether a class is among the first.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/index_dtype.h"

namespace plimsoll {
namespace {

void infer_search_sorted(InferCtx& ctx) {
  const Shape& sequence = ctx.in[0].shape;
  const Shape& values = ctx.in[1].shape;
  const DType to = ctx.attrs[attr::SearchSorted::out_type].as_dtype();
  PLIMSOLL_CHECK(ctx.in[0].dtype == ctx.in[1].dtype, InvalidArgumentError,
                 "cannot compute SearchSorted as input #1(zero-based) was expected to be a {} "
                 "tensor but is a {} tensor [Op:SearchSorted]",
                 dtype_word(ctx.in[0].dtype), dtype_word(ctx.in[1].dtype));
  PLIMSOLL_CHECK(to == DType::kInt64 || to == DType::kInt32, InvalidArgumentError,
                 "Value for attr 'out_type' of {} is not in the list of allowed values: int32, "
                 "int64 [Op:SearchSorted]",
                 dtype_word(to));
  bool leads_match = sequence.rank() >= 1 && sequence.rank() == values.rank();
  for (int i = 0; leads_match && i + 1 < values.rank(); ++i)
    leads_match = sequence.dim(i) == values.dim(i);
  PLIMSOLL_CHECK(leads_match, InvalidArgumentError,
                 "Leading dim_size of both tensors must match: sorted_sequence has shape {}, "
                 "values {} [Op:SearchSorted]",
                 sequence.to_string(), values.to_string());
  PLIMSOLL_CHECK(to == DType::kInt64 || sequence.dim(sequence.rank() - 1) <= INT32_MAX,
                 InvalidArgumentError,
                 "places in a sequence of shape {} do not fit into int32 [Op:SearchSorted]",
                 sequence.to_string());
  ctx.out.add(to, values);
}

void infer_in_top_k(InferCtx& ctx) {
  const Shape& predictions = ctx.in[0].shape;
  const Shape& targets = ctx.in[1].shape;
  check_index_dtype(ctx, 1, "T");
  PLIMSOLL_CHECK(predictions.rank() == 2, InvalidArgumentError,
                 "predictions must be 2-dimensional, got shape {} [Op:InTopK]",
                 predictions.to_string());
  PLIMSOLL_CHECK(targets.rank() == 1, InvalidArgumentError,
                 "targets must be 1-dimensional, got shape {} [Op:InTopK]", targets.to_string());
  PLIMSOLL_CHECK(predictions.dim(0) == targets.dim(0), InvalidArgumentError,
                 "First dimension of predictions {} must match length of targets {} [Op:InTopK]",
                 predictions.dim(0), targets.dim(0));
  PLIMSOLL_CHECK(predictions.dim(1) <= INT32_MAX, InvalidArgumentError,
                 "{} classes are more than int32 counts [Op:InTopK]", predictions.dim(1));
  ctx.out.add(DType::kBool, targets);
}

}  // namespace

const OpDef op_SearchSorted{.infer = infer_search_sorted};
const OpDef op_InTopK{.infer = infer_in_top_k};

}  // namespace plimsoll

// Numbers become rows, and which of them count.
#include "base/check.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

void EmbeddingConfig::visit(ConfigVisitor& v) {
  v("input_dim", input_dim);
  v("output_dim", output_dim);
  v("embeddings_initializer", embeddings_initializer);
  v("embeddings_regularizer", embeddings_regularizer);
  v.null_unless_there("activity_regularizer");
  v("embeddings_constraint", embeddings_constraint);
  v("mask_zero", mask_zero);
  v.constant("quantization_config", nullptr);
  v.ignore("input_length");  // of Keras 2
}

EmbeddingLayer::EmbeddingLayer(EmbeddingConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.input_dim > 0, InvalidArgumentError,
                 "`input_dim` must be a positive integer. Received: input_dim={}",
                 config_.input_dim);
  PLIMSOLL_CHECK(config_.output_dim > 0, InvalidArgumentError,
                 "`output_dim` must be a positive integer. Received: output_dim={}",
                 config_.output_dim);
  supports_masking_ = config_.mask_zero;
  autocast_ = false;
}

void EmbeddingLayer::build(const Shapes&) {
  embeddings_ = add_weight({.name = "embeddings",
                            .shape = {config_.input_dim, config_.output_dim},
                            .initializer = config_.embeddings_initializer,
                            .regularizer = config_.embeddings_regularizer,
                            .constraint = config_.embeddings_constraint});
}

Nested EmbeddingLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor ids = inputs;
  if (ids.dtype() != DType::kInt32 && ids.dtype() != DType::kInt64) ids = cast(ids, int32);
  const Tensor rows = gather(*embeddings_, ids, 0);
  return rows.dtype() == compute_dtype() ? rows : cast(rows, compute_dtype());
}

Nested EmbeddingLayer::compute_mask(const Nested& inputs, const Nested&) {
  if (!config_.mask_zero) return {};
  const Tensor& ids = inputs.leaf().tensor();
  return not_equal(ids, zeros({}, ids.dtype()));
}

void MaskingConfig::visit(ConfigVisitor& v) {
  v("mask_value", mask_value);
}

MaskingLayer::MaskingLayer(MaskingConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
  set_built(true);
}

Nested MaskingLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor& x = inputs.leaf().tensor();
  const Tensor counts =
      reduce_any(not_equal(x, fill({}, config_.mask_value, x.dtype())), {-1}, true);
  return where(counts, x, zeros({}, x.dtype()));
}

Nested MaskingLayer::compute_mask(const Nested& inputs, const Nested&) {
  const Tensor& x = inputs.leaf().tensor();
  return reduce_any(not_equal(x, fill({}, config_.mask_value, x.dtype())), {-1});
}

}  // namespace plimsoll::keras

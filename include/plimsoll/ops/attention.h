// Attention, in tiles: no tensor of tq x tk elements is ever made, forward or backward.
#pragma once

#include <optional>

#include "plimsoll/ops/random.h"
#include "plimsoll/tensor.h"

namespace plimsoll::nn {

struct AttentionOptions {
  Tensor bias = {};  // added to the scaled scores
  // Boolean: true is "may look at". Floating: a second name for `bias`.
  Tensor mask = {};
  std::optional<double> scale = {};  // 1 / sqrt(dim)
  bool is_causal = false;            // row i looks at keys 0 to i
  double dropout_rate = 0;           // of the probabilities
  random::OpSeed seed = {};          // of the dropout
};

// softmax(query key^T scale + bias) value, as keras.ops.dot_product_attention. Layout:
//   query [batch, tq, heads, dim], key [batch, tk, kv_heads, dim], value [batch, tk, kv_heads, dv]
//   bias, mask: any shape that broadcasts to [batch, heads, tq, tk]
// gives [batch, tq, heads, dv]. Of rank 3 all three, without heads: one head. heads is a multiple
// of kv_heads, whose heads serve heads / kv_heads neighbours each.
//
// A row that may look at no key gives zeros, and so do its gradients. (Keras takes the mean of all
// values there, future and padding included.) Scores that are -inf by their bias count as masked.
//
// memory: the result; of the gradients theirs. Beside it log(sum(exp(scores))), one number a row,
// is kept for the gradient, scratch is a few tiles per thread, and in the backward pass sums of the
// size of key and value of one head per thread. A gradient of the bias has the bias's size. The
// dropout keeps no mask: the gradient draws it again.
// throws: InvalidArgumentError for shapes and types that do not go together; UnimplementedError for
// gradients of gradients.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

}  // namespace plimsoll::nn

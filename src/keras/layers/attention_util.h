// Which query looks at which key, and attention over that.
#pragma once

#include <optional>

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct AttentionMasks {
  Tensor query;  // bool [batch, tq]; empty: all
  Tensor keys;   // bool [batch, tk]; empty: all
  Tensor given;  // bool, broadcasts to [batch, tq, tk] or [batch, heads, tq, tk]
  bool causal = false;
  std::optional<std::int64_t> sliding_window = {};

  bool is_none() const noexcept {
    return !query.is_valid() && !keys.is_valid() && !given.is_valid() && !causal && !sliding_window;
  }
};

struct AttendOptions {
  std::optional<double> scale = {};
  double dropout = 0;  // in training; else 0
  ConfigSeed seed = {};
  // A row without keys gives the mean of all values, as Keras's does, not zeros.
  bool means_empty_rows = true;
};
// query [batch, tq, heads, dim], key and value [batch, tk, kv_heads, ...]: [batch, tq, heads, dv].
// memory: linear in tq and tk, unless `given` or `sliding_window` is there: then a mask more.
Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              const AttentionMasks& masks, const AttendOptions& options);

// All masks as one, bool [batch or 1, tq, tk] or of the rank of `given`; empty: none.
Tensor full_mask(const AttentionMasks& masks, std::int64_t tq, std::int64_t tk);
// Softmax over the last `num_axes` dimensions of scores [batch, ..., q axes, k axes], zeros where
// the mask is false. A mask of lower rank has no heads.
Tensor masked_softmax(const Tensor& scores, Tensor mask, int num_axes);

Tensor as_bool(const Tensor& mask);
// A named tensor, or empty.
Tensor named_tensor(const CallArgs& args, std::string_view name);
// "value" and "key" of a call, and the masks that are named or that these carry. `query`: its mask.
// throws: InvalidArgumentError for a call without a value.
struct AttentionInputs {
  Tensor query, key, value;
  AttentionMasks masks;
};
AttentionInputs attention_inputs(const Layer& layer, const Nested& inputs, const CallArgs& args,
                                 const Tensor& query_mask);
// What files call a projection: "query_dense", "output_dense".
inline std::string projection_attribute(std::string_view name) {
  return std::string(name == "attention_output" ? "output" : name) + "_dense";
}
// The shapes of value and key in build.
struct KeyValueShapes {
  PartialShape value, key;
};
KeyValueShapes key_value_shapes(const Layer& layer, const Shapes& named);

}  // namespace plimsoll::keras

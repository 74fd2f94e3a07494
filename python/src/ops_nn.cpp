// Neural networks: activations, convolutions, pooling, normalisation, losses.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "errors.h"
#include "op_table.h"

namespace plimsoll::python {
namespace {

std::array<Tensor, 3> fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                       const Tensor& mean, const Tensor& variance, double epsilon,
                                       std::string_view data_format, bool is_training) {
  const nn::BatchNormResult made =
      nn::fused_batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training);
  return {made.y, made.mean, made.variance};
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const Tensor& mask, std::optional<double> scale, bool is_causal,
                 double dropout_rate, std::optional<std::int64_t> seed) {
  return nn::scaled_dot_product_attention(query, key, value,
                                          {.bias = bias,
                                           .mask = mask,
                                           .scale = scale,
                                           .is_causal = is_causal,
                                           .dropout_rate = dropout_rate,
                                           .seed = seed});
}

nb::object dropout_op(nb::handle x, nb::handle rate, nb::handle noise_shape, nb::handle seed) {
  const Tensor from = to_tensor(x);
  const double part = to_double(rate, "rate");
  const std::optional<std::int64_t> start =
      seed.is_none() ? std::nullopt : std::optional(to_int(seed, "seed"));
  if (noise_shape.is_none())
    return to_python(
        without_gil(from.num_elements(), [&] { return nn::dropout(from, part, start); }));
  std::vector<std::int64_t> dims;
  int axis = 0;
  for (const nb::handle dim : noise_shape) {  // None: as x has it
    dims.push_back(dim.is_none() && axis < from.rank() ? from.shape().dim(axis)
                                                       : to_int(dim, "noise_shape"));
    ++axis;
  }
  const Shape shape{std::span<const std::int64_t>(dims)};
  return to_python(
      without_gil(from.num_elements(), [&] { return nn::dropout(from, part, shape, start); }));
}

std::vector<OpRow> activations() {
  return {
      op("nn.relu", "features", nn::relu, "max(features, 0)."),
      op("nn.relu6", "features", nn::relu6),
      op("nn.leaky_relu", "features, alpha=0.2", nn::leaky_relu),
      op("nn.elu", "features", nn::elu),
      op("nn.selu", "features", nn::selu),
      op("nn.celu", "features, alpha=1.0", nn::celu),
      op("nn.gelu", "features, approximate=False", nn::gelu),
      op("nn.softsign math.softsign", "features", nn::softsign),
      op("nn.silu nn.swish", "features, beta=1.0", nn::silu),
      op("nn.hard_sigmoid", "features", nn::hard_sigmoid),
      op("nn.hard_silu", "features", nn::hard_silu),
      op("nn.mish", "features", nn::mish),
      op("nn.crelu", "features, axis=-1", nn::crelu),
      op("nn.glu", "features, axis=-1", nn::glu),
      op("nn.softmax math.softmax", "logits, axis=-1",
         [](const Tensor& logits, std::optional<std::int64_t> axis) {
           return nn::softmax(logits, axis.value_or(-1));
         }),
      op("nn.log_softmax math.log_softmax", "logits, axis=-1",
         [](const Tensor& logits, std::optional<std::int64_t> axis) {
           return nn::log_softmax(logits, axis.value_or(-1));
         }),
      op("nn.softmax_cross_entropy_with_logits", "labels, logits, axis=-1",
         nn::softmax_cross_entropy_with_logits),
      op("nn.sparse_softmax_cross_entropy_with_logits", "~labels, logits",
         nn::sparse_softmax_cross_entropy_with_logits),
      op("nn.sigmoid_cross_entropy_with_logits", "labels=None, logits=None",
         nn::sigmoid_cross_entropy_with_logits),
      op("nn.weighted_cross_entropy_with_logits", "labels, logits, pos_weight",
         nn::weighted_cross_entropy_with_logits),
      op("nn.dropout", "x, rate, noise_shape=None, seed=None", dropout_op,
         "Zeros a part of the elements and scales the others up.", OpKind::kEffect),
      op("nn.scaled_dot_product_attention",
         "query, key, value, bias=None, ~mask=None, scale=None, is_causal=False, dropout_rate=0.0, "
         "seed=None",
         attention, "Attention in tiles: no tensor of all scores is made.", OpKind::kEffect),
      op("nn.embedding_lookup", "params, ~ids, !max_norm=None", nn::embedding_lookup),
  };
}

// TensorFlow's order of arguments.
template <class F>
OpRow conv(const char* names, const char* filters, const char* format, F f) {
  static std::vector<std::string>& texts = *new std::vector<std::string>;
  texts.reserve(32);
  texts.push_back(fmt::format("input, {}, strides, padding, data_format='{}', dilations=None",
                              filters, format));
  return op(names, texts.back().c_str(), f);
}
template <class F>
OpRow conv_transpose(const char* names, const char* format, F f) {
  static std::vector<std::string>& texts = *new std::vector<std::string>;
  texts.reserve(8);
  texts.push_back(fmt::format(
      "input, filters, output_shape, strides, padding='SAME', data_format='{}', dilations=None",
      format));
  return op(names, texts.back().c_str(), f);
}
template <class F>
OpRow pool(const char* names, const char* format, F f) {
  static std::vector<std::string>& texts = *new std::vector<std::string>;
  texts.reserve(16);
  texts.push_back(fmt::format("input, ksize, strides, padding, data_format={}", format));
  return op(names, texts.back().c_str(), f);
}

std::vector<OpRow> windows() {
  return {
      op("nn.conv1d", "input, filters, stride, padding, data_format='NWC', dilations=None",
         nn::conv1d),
      conv("nn.conv2d", "filters", "NHWC", nn::conv2d),
      conv("nn.conv3d", "filters", "NDHWC", nn::conv3d),
      conv("nn.depthwise_conv2d", "filter", "NHWC", nn::depthwise_conv2d),
      conv_transpose("nn.conv1d_transpose", "NWC", nn::conv1d_transpose),
      conv_transpose("nn.conv2d_transpose", "NHWC", nn::conv2d_transpose),
      conv_transpose("nn.conv3d_transpose", "NDHWC", nn::conv3d_transpose),
      op("nn.atrous_conv2d", "value, filters, rate, padding", nn::atrous_conv2d),
      op("nn.separable_conv2d",
         "input, depthwise_filter, pointwise_filter, strides, padding, data_format='NHWC', "
         "dilations=None",
         nn::separable_conv2d),
      op("nn.bias_add", "value, bias, data_format='NHWC'", nn::bias_add),
      pool("nn.max_pool1d", "'NWC'", nn::max_pool1d),
      pool("nn.max_pool2d", "'NHWC'", nn::max_pool2d),
      pool("nn.max_pool3d", "'NDHWC'", nn::max_pool3d),
      pool("nn.max_pool", "None", nn::max_pool),
      pool("nn.avg_pool1d", "'NWC'", nn::avg_pool1d),
      pool("nn.avg_pool2d", "'NHWC'", nn::avg_pool2d),
      pool("nn.avg_pool3d", "'NDHWC'", nn::avg_pool3d),
      pool("nn.avg_pool", "None", nn::avg_pool),
      op("nn.space_to_depth", "input, block_size, data_format='NHWC'", nn::space_to_depth),
      op("nn.depth_to_space", "input, block_size, data_format='NHWC'", nn::depth_to_space),
      op("image.resize",
         "images, size, method='bilinear', preserve_aspect_ratio=False, antialias=False",
         [](const Tensor& images, const std::vector<std::int64_t>& size, std::string_view method,
            bool preserve_aspect_ratio, bool antialias) {
           if (size.size() != 2)
             raise_value_error(fmt::format(
                 "'size' must be a 1-D Tensor of 2 elements: new_height, new_width, got {} "
                 "of them",
                 size.size()));
           if (images.rank() != 3 && images.rank() != 4)
             raise_value_error(
                 fmt::format("'images' must have either 3 or 4 dimensions, got shape {}",
                             images.shape().to_string()));
           static constexpr std::array<std::string_view, 8> kMethods = {
               "bilinear", "nearest",  "bicubic",  "area",
               "lanczos3", "lanczos5", "gaussian", "mitchellcubic"};
           if (std::ranges::find(kMethods, method) == kMethods.end())
             raise_value_error(fmt::format("Resize method is not implemented: {}", method));
           return image::resize(images, {size[0], size[1]}, method, preserve_aspect_ratio,
                                antialias);
         }),
  };
}

std::vector<OpRow> norms() {
  return {
      op("nn.batch_normalization",
         "x, mean, variance, offset=None, scale=None, variance_epsilon=0.001",
         nn::batch_normalization),
      op("nn.fused_batch_norm",
         "x, ~scale, ~offset, ~mean=None, ~variance=None, epsilon=0.001, data_format='NHWC', "
         "is_training=True",
         fused_batch_norm),
      op("nn.layer_norm", "x, ~scale, ~offset, epsilon=0.001", nn::layer_norm),
      op("nn.rms_norm", "x, ~scale, epsilon=1e-6", nn::rms_norm),
      op("nn.group_norm", "x, ~scale, ~offset, groups, epsilon=0.001", nn::group_norm),
      op("nn.local_response_normalization nn.lrn",
         "input, depth_radius=5, bias=1, alpha=1, beta=0.5", nn::local_response_normalization),
      op("math.l2_normalize nn.l2_normalize linalg.l2_normalize",
         "x, axis=None, epsilon=1e-12, name=None, !dim=None", math::l2_normalize),
      op("nn.zero_fraction math.zero_fraction", "value",
         [](const Tensor& value) {
           return reduce_mean(cast(equal(value, zeros_like(value)), float32));
         }),
      op(
          "nn.l2_loss", "t", [](const Tensor& t) { return reduce_sum(square(t)) * 0.5; },
          "Half the sum of squares."),
  };
}

}  // namespace

std::vector<OpRow> nn_ops() {
  std::vector<OpRow> all;
  for (auto* part : {activations, windows, norms}) {
    for (const OpRow& row : part()) all.push_back(row);
  }
  return all;
}

}  // namespace plimsoll::python

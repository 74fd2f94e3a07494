#include "models/networks.h"

#include "models/layers.h"

namespace plimsoll::bench {
namespace {

using keras::Input;
using keras::LayerOptions;
using keras::Nested;
namespace layers = keras::layers;

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.9;  // of moving averages

LayerOptions named(const std::string& name) {
  return {.name = layer_name(name)};
}

layers::Dense dense(const std::string& name, std::int64_t units, const char* activation = nullptr) {
  return layers::Dense(
      {.units = units,
       .activation = activation ? keras::Activation(activation) : keras::Activation(),
       .kernel_initializer = named_values(name + "/kernel", 0.5)},
      named(name));
}

keras::ModelPtr make_functional(const Nested& in, const Nested& out) {
  return keras::Functional(in, out);
}

struct ConvOptions {
  std::int64_t kernel = 1, filters = 0;
  std::int64_t stride = 1;
  bool is_depthwise = false;  // then `filters` does not count
  const char* activation = nullptr;
};

// Without bias, padded as PyTorch does.
Nested conv(const Nested& x, const std::string& name, const ConvOptions& o) {
  const keras::InitializerArg values = named_values(name + "/kernel", 1);
  if (o.kernel > 1 && o.stride > 1)
    return PaddedConv2D({.filters = o.is_depthwise ? 0 : o.filters,
                         .kernel_size = o.kernel,
                         .strides = o.stride,
                         .kernel_initializer = values},
                        named(name))(x);
  if (o.is_depthwise)
    return layers::DepthwiseConv2D({.kernel_size = o.kernel,
                                    .padding = "same",
                                    .use_bias = false,
                                    .depthwise_initializer = values},
                                   named(name))(x);
  return layers::Conv2D({.filters = o.filters,
                         .kernel_size = o.kernel,
                         .strides = o.stride,
                         .padding = "same",
                         .use_bias = false,
                         .kernel_initializer = values},
                        named(name))(x);
}

// Convolution and batch normalisation, the pair that both image networks consist of.
Nested conv_norm(const Nested& x, const std::string& name, const ConvOptions& options) {
  const Nested y =
      layers::BatchNormalization({.momentum = kMomentum, .epsilon = kEpsilon},
                                 named(name + "/norm"))(conv(x, name + "/conv", options));
  if (!options.activation) return y;
  return layers::Activation({.activation = options.activation},
                            named(name + "/" + options.activation))(y);
}

Nested bottleneck(const Nested& x, const std::string& name, std::int64_t width, std::int64_t stride,
                  bool has_shortcut) {
  Nested y = conv_norm(x, name + "/1", {.filters = width, .activation = "relu"});
  y = conv_norm(y, name + "/2",
                {.kernel = 3, .filters = width, .stride = stride, .activation = "relu"});
  y = conv_norm(y, name + "/3", {.filters = 4 * width});
  const Nested kept =
      has_shortcut ? conv_norm(x, name + "/0", {.filters = 4 * width, .stride = stride}) : x;
  return layers::Activation({.activation = "relu"}, named(name + "/relu"))(
      layers::Add({}, named(name + "/add"))({y, kept}));
}

// MobileNetV2's: wider, depthwise, narrower; no activation at the narrow ends.
struct InvertedResidual {
  std::int64_t in, out, stride, factor;

  Nested operator()(const Nested& x, const std::string& name) const {
    const std::int64_t width = in * factor;
    Nested y = x;
    if (factor != 1) y = conv_norm(y, name + "/1", {.filters = width, .activation = "relu6"});
    y = conv_norm(y, name + "/2",
                  {.kernel = 3, .stride = stride, .is_depthwise = true, .activation = "relu6"});
    y = conv_norm(y, name + "/3", {.filters = out});
    if (stride != 1 || in != out) return y;
    return layers::Add({}, named(name + "/add"))({x, y});
  }
};

// With the normalisation before attention and before the two dense layers.
Nested encoder_layer(const Nested& x, const std::string& name, std::int64_t channels,
                     std::int64_t num_heads) {
  const auto norm = [&](const char* which) {
    return layers::LayerNormalization({.epsilon = kEpsilon}, named(name + "/" + which));
  };
  const std::string attention = name + "/attention";
  const Nested y = SelfAttention({.num_heads = num_heads, .values_name = attention},
                                 named(attention))(norm("norm1")(x));
  const Nested sum = layers::Add({}, named(name + "/add1"))({x, y});
  const Nested wide = dense(name + "/wide", 4 * channels, "gelu")(norm("norm2")(sum));
  return layers::Add({}, named(name + "/add2"))({sum, dense(name + "/narrow", channels)(wide)});
}

}  // namespace

keras::ModelPtr make_mlp() {
  return keras::Sequential({Input({784}), dense("dense1", 512, "relu"),
                            dense("dense2", 512, "relu"), dense("head", 10)});
}

keras::ModelPtr make_mnist_cnn(double dropout) {
  const auto conv_relu = [](const std::string& name, std::int64_t filters) {
    return layers::Conv2D({.filters = filters,
                           .kernel_size = 3,
                           .activation = "relu",
                           .kernel_initializer = named_values(name + "/kernel", 1)},
                          named(name));
  };
  const keras::Sequential model({Input({28, 28, 1}), conv_relu("conv1", 32), layers::MaxPooling2D(),
                                 conv_relu("conv2", 64), layers::MaxPooling2D(),
                                 layers::Flatten()});
  if (dropout > 0) model->add(layers::Dropout({.rate = dropout}));
  model->add(dense("head", 10));
  return model;
}

keras::ModelPtr make_resnet50() {
  const auto in = Input({224, 224, 3});
  Nested y = conv_norm(in, "stem", {.kernel = 7, .filters = 64, .stride = 2, .activation = "relu"});
  y = PaddedMaxPooling2D({.pool_size = 3, .strides = 2})(y);
  const int depths[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      const std::string name = "block" + std::to_string(stage + 1) + "_" + std::to_string(i + 1);
      y = bottleneck(y, name, 64LL << stage, i == 0 && stage > 0 ? 2 : 1, i == 0);
    }
  }
  return make_functional(in, dense("head", 1000)(layers::GlobalAveragePooling2D()(y)));
}

keras::ModelPtr make_mobilenet_v2() {
  const auto in = Input({224, 224, 3});
  Nested y =
      conv_norm(in, "stem", {.kernel = 3, .filters = 32, .stride = 2, .activation = "relu6"});
  struct Row {
    std::int64_t factor, out, repeats, stride;
  };
  const Row rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  std::int64_t channels = 32;
  int number = 0;
  for (const Row& row : rows) {
    for (std::int64_t i = 0; i < row.repeats; ++i) {
      const InvertedResidual block{channels, row.out, i == 0 ? row.stride : 1, row.factor};
      y = block(y, "block" + std::to_string(++number));
      channels = row.out;
    }
  }
  y = conv_norm(y, "last", {.filters = 1280, .activation = "relu6"});
  return make_functional(in, dense("head", 1000)(layers::GlobalAveragePooling2D()(y)));
}

keras::ModelPtr make_transformer_encoder() {
  constexpr int kNumLayers = 4;
  constexpr std::int64_t kChannels = 256, kNumHeads = 4;
  const auto in = Input({128, kChannels});
  Nested y = in;
  for (int i = 0; i < kNumLayers; ++i)
    y = encoder_layer(y, "layer" + std::to_string(i + 1), kChannels, kNumHeads);
  y = layers::LayerNormalization({.epsilon = kEpsilon}, named("norm"))(y);
  return make_functional(in, dense("head", 10)(layers::GlobalAveragePooling1D()(y)));
}

keras::ModelPtr make_lstm() {
  return keras::Sequential(
      {Input({64, 128}),
       layers::LSTM({.units = 256,
                     .kernel_initializer = named_values("lstm/kernel", 0.5),
                     .recurrent_initializer = named_values("lstm/recurrent_kernel", 0.5),
                     .unit_forget_bias = false},
                    named("lstm")),
       dense("head", 10)});
}

}  // namespace plimsoll::bench

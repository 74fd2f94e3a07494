#include "models/networks.h"

#include <memory>
#include <optional>

#include "plimsoll/function.h"

namespace plimsoll::bench {
namespace {

// Convolution without bias and batch normalisation, the pair that both image networks consist of.
struct ConvNorm {
  std::string name;
  Conv conv;
  BatchNorm norm;

  ConvNorm(Weights& w, const std::string& n, std::int64_t kernel, std::int64_t in, std::int64_t out,
           ConvOptions options = {})
      : name(n), conv(w, n + "/conv", kernel, in, out, options), norm(w, n + "/norm", out) {}
  Tensor operator()(const Tensor& x) const { return norm(conv(x)); }
  Tensor relu(const Tensor& x) const {
    const Tensor y = (*this)(x);
    const name_scope scope(name + "/relu");
    return nn::relu(y);
  }
  Tensor relu6(const Tensor& x) const {
    const Tensor y = (*this)(x);
    const name_scope scope(name + "/relu6");
    return nn::relu6(y);
  }
};

struct Bottleneck {
  std::string name;
  ConvNorm reduce, middle, expand;
  std::optional<ConvNorm> shortcut;

  Bottleneck(Weights& w, const std::string& n, std::int64_t in, std::int64_t width,
             std::int64_t stride)
      : name(n),
        reduce(w, n + "/1", 1, in, width),
        middle(w, n + "/2", 3, width, width, {.stride = stride}),
        expand(w, n + "/3", 1, width, 4 * width) {
    if (stride != 1 || in != 4 * width)
      shortcut.emplace(w, n + "/0", 1, in, 4 * width, ConvOptions{.stride = stride});
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = expand(middle.relu(reduce.relu(x)));
    const Tensor kept = shortcut ? (*shortcut)(x) : x;
    const name_scope scope(name);
    return nn::relu(y + kept);
  }
};

struct ResNet50 {
  ConvNorm stem;
  std::vector<Bottleneck> blocks;
  Dense head;

  explicit ResNet50(Weights& w)
      : stem(w, "stem", 7, 3, 64, {.stride = 2}), head(w, "head", 2048, 1000) {
    const int depths[] = {3, 4, 6, 3};
    std::int64_t in = 64;
    for (int stage = 0; stage < 4; ++stage) {
      const std::int64_t width = 64LL << stage;
      for (int i = 0; i < depths[stage]; ++i) {
        const std::string name = "block" + std::to_string(stage + 1) + "_" + std::to_string(i + 1);
        blocks.emplace_back(w, name, in, width, i == 0 && stage > 0 ? 2 : 1);
        in = 4 * width;
      }
    }
  }
  Tensor operator()(const Tensor& x) const {
    Tensor y = stem.relu(x);
    y = nn::max_pool2d(y, 3, 2, padding_of(Pad::kSame, 3));
    for (const Bottleneck& block : blocks) y = block(y);
    return head(global_average(y));
  }
};

// MobileNetV2's: wider, depthwise, narrower; no activation at the narrow ends.
struct InvertedResidual {
  std::string name;
  std::optional<ConvNorm> expand;
  ConvNorm middle, project;
  bool is_residual;

  InvertedResidual(Weights& w, const std::string& n, std::int64_t in, std::int64_t out,
                   std::int64_t stride, std::int64_t factor)
      : name(n),
        expand(factor == 1
                   ? std::nullopt
                   : std::optional<ConvNorm>(std::in_place, w, n + "/1", 1, in, in * factor)),
        middle(w, n + "/2", 3, in * factor, in * factor, {.stride = stride, .is_depthwise = true}),
        project(w, n + "/3", 1, in * factor, out),
        is_residual(stride == 1 && in == out) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor wide = expand ? expand->relu6(x) : x;
    const Tensor y = project(middle.relu6(wide));
    if (!is_residual) return y;
    const name_scope scope(name);
    return x + y;
  }
};

struct MobileNetV2 {
  ConvNorm stem;
  std::vector<InvertedResidual> blocks;
  std::optional<ConvNorm> last;
  std::optional<Dense> head;

  explicit MobileNetV2(Weights& w) : stem(w, "stem", 3, 3, 32, {.stride = 2}) {
    struct Row {
      std::int64_t factor, out, repeats, stride;
    };
    const Row rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                        {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    std::int64_t in = 32;
    for (const Row& row : rows) {
      for (std::int64_t i = 0; i < row.repeats; ++i) {
        const std::string name = "block" + std::to_string(blocks.size() + 1);
        blocks.emplace_back(w, name, in, row.out, i == 0 ? row.stride : 1, row.factor);
        in = row.out;
      }
    }
    last.emplace(w, "last", 1, in, 1280);
    head.emplace(w, "head", 1280, 1000);
  }
  Tensor operator()(const Tensor& x) const {
    Tensor y = stem.relu6(x);
    for (const InvertedResidual& block : blocks) y = block(y);
    return (*head)(global_average(last->relu6(y)));
  }
};

// With the normalisation before attention and before the two dense layers.
struct EncoderLayer {
  LayerNorm norm1;
  Attention attention;
  LayerNorm norm2;
  Dense wide, narrow;

  EncoderLayer(Weights& w, const std::string& n, std::int64_t channels, std::int64_t num_heads)
      : norm1(w, n + "/norm1", channels),
        attention(w, n + "/attention", channels, num_heads),
        norm2(w, n + "/norm2", channels),
        wide(w, n + "/wide", channels, 4 * channels),
        narrow(w, n + "/narrow", 4 * channels, channels) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor y = x + attention(norm1(x));
    return y + narrow(nn::gelu(wide(norm2(y))));
  }
};

}  // namespace

Network make_mlp(Weights& w) {
  return [one = Dense(w, "dense1", 784, 512), two = Dense(w, "dense2", 512, 512),
          head = Dense(w, "head", 512, 10)](const Tensor& x) {
    return head(nn::relu(two(nn::relu(one(x)))));
  };
}

Network make_mnist_cnn(Weights& w, double dropout) {
  const ConvOptions options{.pad = Pad::kValid, .has_bias = true};
  return [one = Conv(w, "conv1", 3, 1, 32, options), two = Conv(w, "conv2", 3, 32, 64, options),
          head = Dense(w, "head", 5 * 5 * 64, 10), dropout](const Tensor& x) {
    Tensor y = nn::max_pool2d(nn::relu(one(x)), 2, 2, "VALID");
    y = nn::max_pool2d(nn::relu(two(y)), 2, 2, "VALID");
    y = reshape(y, {x.shape()[0], -1});
    if (dropout > 0) y = nn::dropout(y, dropout);
    return head(y);
  };
}

Network make_resnet50(Weights& w) {
  return [net = std::make_shared<ResNet50>(w)](const Tensor& x) { return (*net)(x); };
}

Network make_mobilenet_v2(Weights& w) {
  return [net = std::make_shared<MobileNetV2>(w)](const Tensor& x) { return (*net)(x); };
}

Network make_transformer_encoder(Weights& w) {
  constexpr int kNumLayers = 4;
  constexpr std::int64_t kChannels = 256, kNumHeads = 4;
  std::vector<EncoderLayer> layers;
  for (int i = 0; i < kNumLayers; ++i)
    layers.emplace_back(w, "layer" + std::to_string(i + 1), kChannels, kNumHeads);
  return [layers = std::move(layers), norm = LayerNorm(w, "norm", kChannels),
          head = Dense(w, "head", kChannels, 10)](const Tensor& x) {
    Tensor y = x;
    for (const EncoderLayer& layer : layers) y = layer(y);
    return head(reduce_mean(norm(y), {1}));
  };
}

Network make_lstm(Weights& w) {
  constexpr std::int64_t kUnits = 256;
  return [lstm = Lstm(w, "lstm", 128, kUnits),
          head = Dense(w, "head", kUnits, 10)](const Tensor& x) { return head(lstm(x)); };
}

}  // namespace plimsoll::bench

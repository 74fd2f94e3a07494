// The layers of the benchmarks' models, on ops. A layer declares its variables when it is made, in
// `Weights`, and is called like a function; inside a call, what it does is recorded under its name.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/ops.h"
#include "plimsoll/variable.h"

namespace plimsoll::bench {

// All variables of a model. Their addresses stay.
class Weights {
 public:
  // Uniform in [-limit, limit), from the name.
  Variable* add(const std::string& name, const Shape& shape, double limit);
  Variable* add_constant(const std::string& name, const Shape& shape, double value,
                         VariableOptions options = {});

  std::vector<const Variable*> trainable() const;
  std::deque<Variable> variables;
};

class Dense {
 public:
  Dense(Weights& weights, std::string name, std::int64_t in, std::int64_t out);
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  Variable *kernel_, *bias_;
};

// "VALID", or as many zeros all around as keep the size at stride 1, as PyTorch pads.
enum class Pad { kValid, kSame };

struct ConvOptions {
  std::int64_t stride = 1;
  Pad pad = Pad::kSame;
  bool has_bias = false;
  bool is_depthwise = false;  // then `in` is the number of channels
};

class Conv {
 public:
  Conv(Weights& weights, std::string name, std::int64_t kernel, std::int64_t in, std::int64_t out,
       ConvOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  std::int64_t size_;
  ConvOptions options_;
  Variable* kernel_;
  Variable* bias_ = nullptr;
};

// By the statistics of the batch; moving averages are kept as a side effect.
class BatchNorm {
 public:
  BatchNorm(Weights& weights, std::string name, std::int64_t channels);
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  Variable *gamma_, *beta_, *mean_, *variance_;
};

class LayerNorm {
 public:
  LayerNorm(Weights& weights, std::string name, std::int64_t channels);
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  Variable *gamma_, *beta_;
};

// Self-attention over [batch, positions, channels].
class Attention {
 public:
  Attention(Weights& weights, std::string name, std::int64_t channels, std::int64_t num_heads);
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  std::int64_t num_heads_;
  Dense qkv_, out_;
};

// The state after the last step of [batch, time, in].
class Lstm {
 public:
  Lstm(Weights& weights, std::string name, std::int64_t in, std::int64_t units);
  Tensor operator()(const Tensor& x) const;

 private:
  std::string name_;
  Variable *kernel_, *recurrent_, *bias_;
};

// The padding of a window of this size: an equal number all around.
nn::PaddingArg padding_of(Pad pad, std::int64_t window);
Tensor global_average(const Tensor& images);

}  // namespace plimsoll::bench

// First values of weights.
#pragma once

#include <optional>
#include <string>

#include "plimsoll/keras/object.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class Initializer : public Object {
 public:
  // memory: 1x the result.
  virtual Tensor operator()(const Shape& shape, DType dtype = float32) const = 0;

  // throws: InvalidArgumentError that names what was received.
  static std::shared_ptr<Initializer> get(const Json& identifier);
  std::string module() const override { return "keras.initializers"; }
};
using InitializerArg = Arg<Initializer>;
using ConfigSeed = std::optional<std::int64_t>;

struct ZerosConfig {
  static constexpr const char* kClassName = "Zeros";
  void visit(ConfigVisitor&) {}
};
class ZerosInitializer : public Configured<Initializer, ZerosConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct OnesConfig {
  static constexpr const char* kClassName = "Ones";
  void visit(ConfigVisitor&) {}
};
class OnesInitializer : public Configured<Initializer, OnesConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct ConstantConfig {
  static constexpr const char* kClassName = "Constant";
  double value = 0;
  void visit(ConfigVisitor& v) { v("value", value); }
};
class ConstantInitializer : public Configured<Initializer, ConstantConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct IdentityInitializerConfig {
  static constexpr const char* kClassName = "Identity";
  double gain = 1;
  void visit(ConfigVisitor& v) { v("gain", gain); }
};
class IdentityInitializer : public Configured<Initializer, IdentityInitializerConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct RandomNormalConfig {
  static constexpr const char* kClassName = "RandomNormal";
  double mean = 0, stddev = 0.05;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("mean", mean);
    v("stddev", stddev);
  }
};
class RandomNormalInitializer : public Configured<Initializer, RandomNormalConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct TruncatedNormalConfig {
  static constexpr const char* kClassName = "TruncatedNormal";
  double mean = 0, stddev = 0.05;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("mean", mean);
    v("stddev", stddev);
  }
};
class TruncatedNormalInitializer : public Configured<Initializer, TruncatedNormalConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct RandomUniformConfig {
  static constexpr const char* kClassName = "RandomUniform";
  double minval = -0.05, maxval = 0.05;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("minval", minval);
    v("maxval", maxval);
  }
};
class RandomUniformInitializer : public Configured<Initializer, RandomUniformConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

struct VarianceScalingConfig {
  static constexpr const char* kClassName = "VarianceScaling";
  double scale = 1;
  std::string mode = "fan_in";                    // fan_out, fan_avg
  std::string distribution = "truncated_normal";  // untruncated_normal, uniform
  ConfigSeed seed = {};
  Sizes input_axes = {}, output_axes = {};  // none: as of dense and convolution kernels
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("scale", scale);
    v("mode", mode);
    v("distribution", distribution);
    v("input_axes", input_axes);
    v("output_axes", output_axes);
  }
};
class VarianceScalingInitializer : public Configured<Initializer, VarianceScalingConfig> {
 public:
  explicit VarianceScalingInitializer(VarianceScalingConfig config);
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

// The named kinds of variance scaling.
struct ScalingSeedConfig {
  ConfigSeed seed = {};
  Sizes input_axes = {}, output_axes = {};
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("input_axes", input_axes);
    v("output_axes", output_axes);
  }
};
#define PLIMSOLL_SCALING_INITIALIZER(Name)                                     \
  struct Name##Config : ScalingSeedConfig {                                    \
    static constexpr const char* kClassName = #Name;                           \
    Name##Config(ScalingSeedConfig config = {}) : ScalingSeedConfig(config) {} \
  };                                                                           \
  class Name##Initializer : public Configured<Initializer, Name##Config> {     \
   public:                                                                     \
    using Configured::Configured;                                              \
    Tensor operator()(const Shape& shape, DType dtype) const override;         \
  }
PLIMSOLL_SCALING_INITIALIZER(GlorotUniform);
PLIMSOLL_SCALING_INITIALIZER(GlorotNormal);
PLIMSOLL_SCALING_INITIALIZER(HeUniform);
PLIMSOLL_SCALING_INITIALIZER(HeNormal);
PLIMSOLL_SCALING_INITIALIZER(LecunUniform);
PLIMSOLL_SCALING_INITIALIZER(LecunNormal);
#undef PLIMSOLL_SCALING_INITIALIZER

struct OrthogonalConfig {
  static constexpr const char* kClassName = "Orthogonal";
  double gain = 1;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("seed", seed);
    v("gain", gain);
  }
};
class OrthogonalInitializer : public Configured<Initializer, OrthogonalConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType dtype) const override;
};

namespace initializers {
using Zeros = Ref<ZerosInitializer>;
using Ones = Ref<OnesInitializer>;
using Constant = Ref<ConstantInitializer>;
using Identity = Ref<IdentityInitializer>;
using RandomNormal = Ref<RandomNormalInitializer>;
using TruncatedNormal = Ref<TruncatedNormalInitializer>;
using RandomUniform = Ref<RandomUniformInitializer>;
using VarianceScaling = Ref<VarianceScalingInitializer>;
using GlorotUniform = Ref<GlorotUniformInitializer>;
using GlorotNormal = Ref<GlorotNormalInitializer>;
using HeUniform = Ref<HeUniformInitializer>;
using HeNormal = Ref<HeNormalInitializer>;
using LecunUniform = Ref<LecunUniformInitializer>;
using LecunNormal = Ref<LecunNormalInitializer>;
using Orthogonal = Ref<OrthogonalInitializer>;
}  // namespace initializers

}  // namespace plimsoll::keras

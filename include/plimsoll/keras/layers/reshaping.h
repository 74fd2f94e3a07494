// Layers that give the same numbers in another shape, with zeros around them, or not all of them.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct FlattenConfig {
  static constexpr const char* kClassName = "Flatten";
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) { v("data_format", data_format); }
};
// memory: a view.
class FlattenLayer : public Configured<Layer, FlattenConfig> {
 public:
  explicit FlattenLayer(FlattenConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct ReshapeConfig {
  static constexpr const char* kClassName = "Reshape";
  std::vector<std::int64_t> target_shape = {};  // without the batch; one may be -1: what is left
  void visit(ConfigVisitor& v) { v("target_shape", target_shape); }
};
// memory: a view.
class ReshapeLayer : public Configured<Layer, ReshapeConfig> {
 public:
  explicit ReshapeLayer(ReshapeConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_output_spec(const Nested& inputs, const CallArgs& args) override;
};

struct PermuteConfig {
  static constexpr const char* kClassName = "Permute";
  std::vector<std::int64_t> dims = {};  // from 1, without the batch
  void visit(ConfigVisitor& v) { v("dims", dims); }
};
class PermuteLayer : public Configured<Layer, PermuteConfig> {
 public:
  explicit PermuteLayer(PermuteConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct RepeatVectorConfig {
  static constexpr const char* kClassName = "RepeatVector";
  std::int64_t n = 0;
  void visit(ConfigVisitor& v) { v("n", n); }
};
// [batch, features] n times: [batch, n, features].
class RepeatVectorLayer : public Configured<Layer, RepeatVectorConfig> {
 public:
  explicit RepeatVectorLayer(RepeatVectorConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct UpSampling1DConfig {
  static constexpr const char* kClassName = "UpSampling1D";
  std::int64_t size = 2;
  void visit(ConfigVisitor& v) { v("size", size); }
};
class UpSampling1DLayer : public Configured<Layer, UpSampling1DConfig> {
 public:
  explicit UpSampling1DLayer(UpSampling1DConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct UpSampling2DConfig {
  static constexpr const char* kClassName = "UpSampling2D";
  Sizes size = 2;
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";  // bilinear, bicubic, area, lanczos3, lanczos5
  void visit(ConfigVisitor& v) {
    v("size", size);
    v("data_format", data_format);
    v("interpolation", interpolation);
  }
};
class UpSampling2DLayer : public Configured<Layer, UpSampling2DConfig> {
 public:
  explicit UpSampling2DLayer(UpSampling2DConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct UpSampling3DConfig {
  static constexpr const char* kClassName = "UpSampling3D";
  Sizes size = 2;
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) {
    v("size", size);
    v("data_format", data_format);
  }
};
class UpSampling3DLayer : public Configured<Layer, UpSampling3DConfig> {
 public:
  explicit UpSampling3DLayer(UpSampling3DConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

// How much before and after, in each direction: one number for all, one for each direction or a
// pair for each. Of series, two numbers are a pair.
class Margins {
 public:
  struct Pair {
    Pair(std::int64_t both) : before(both), after(both) {}
    Pair(std::int64_t first, std::int64_t second) : before(first), after(second) {}
    std::int64_t before, after;
  };
  Margins(int all) : pairs_{Pair(all)} {}
  Margins(std::initializer_list<Pair> pairs) : pairs_(pairs), is_list_(true) {}
  Margins(std::vector<Pair> pairs) : pairs_(std::move(pairs)), is_list_(true) {}

  const std::vector<Pair>& pairs() const noexcept { return pairs_; }
  // A pair for each of `num` directions. throws: InvalidArgumentError that names `what`.
  Margins standardized(std::size_t num, const char* what) const;

  friend Json to_config(const Margins& margins);
  friend void from_config(const Json& json, Margins& margins);

 private:
  std::vector<Pair> pairs_;
  bool is_list_ = false;
};

template <int rank>
struct ZeroPaddingConfig {
  static constexpr const char* kClassName = rank == 1   ? "ZeroPadding1D"
                                            : rank == 2 ? "ZeroPadding2D"
                                                        : "ZeroPadding3D";
  Margins padding = 1;
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) {
    v("padding", padding);
    v("data_format", data_format);
  }
};
template <int rank>
class ZeroPaddingLayer : public Configured<Layer, ZeroPaddingConfig<rank>> {
 public:
  explicit ZeroPaddingLayer(ZeroPaddingConfig<rank> config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

template <int rank>
struct CroppingConfig {
  static constexpr const char* kClassName = rank == 1   ? "Cropping1D"
                                            : rank == 2 ? "Cropping2D"
                                                        : "Cropping3D";
  Margins cropping = rank == 2 ? 0 : 1;
  std::string data_format = "channels_last";  // of series always
  void visit(ConfigVisitor& v) {
    v("cropping", cropping);
    if constexpr (rank > 1) v("data_format", data_format);
  }
};
template <int rank>
class CroppingLayer : public Configured<Layer, CroppingConfig<rank>> {
 public:
  explicit CroppingLayer(CroppingConfig<rank> config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

extern template class ZeroPaddingLayer<1>;
extern template class ZeroPaddingLayer<2>;
extern template class ZeroPaddingLayer<3>;
extern template class CroppingLayer<1>;
extern template class CroppingLayer<2>;
extern template class CroppingLayer<3>;

namespace layers {
using Flatten = LayerRef<FlattenLayer>;
using Reshape = LayerRef<ReshapeLayer>;
using Permute = LayerRef<PermuteLayer>;
using RepeatVector = LayerRef<RepeatVectorLayer>;
using UpSampling1D = LayerRef<UpSampling1DLayer>;
using UpSampling2D = LayerRef<UpSampling2DLayer>;
using UpSampling3D = LayerRef<UpSampling3DLayer>;
using ZeroPadding1D = LayerRef<ZeroPaddingLayer<1>>;
using ZeroPadding2D = LayerRef<ZeroPaddingLayer<2>>;
using ZeroPadding3D = LayerRef<ZeroPaddingLayer<3>>;
using Cropping1D = LayerRef<CroppingLayer<1>>;
using Cropping2D = LayerRef<CroppingLayer<2>>;
using Cropping3D = LayerRef<CroppingLayer<3>>;
}  // namespace layers

}  // namespace plimsoll::keras

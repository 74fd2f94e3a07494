// Images resized, cut, and changed at random while a model is trained.
//
//   auto augment = keras::Sequential({keras::layers::RandomFlip({.mode = "horizontal"}),
//                                     keras::layers::RandomRotation({.factor = 0.1})});
//
// All of them take images [batch, height, width, channels], one image [height, width, channels], or
// a dictionary with "images" and, where they are there, "labels" and "segmentation_masks", which
// are changed along. Called outside of a model and without `training`, they are in training, as
// Keras's are. Bounding boxes are not built.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

// How much at most: 0.2 is -0.2 to 0.2; or from and to: {0.1, 0.3}. Written as it was given.
class Factor {
 public:
  Factor() noexcept = default;  // none
  Factor(int both) : values_{both} {}
  Factor(double both) : values_{both} {}
  Factor(std::initializer_list<Number> bounds) : values_(bounds), is_list_(true) {}

  bool is_none() const noexcept { return values_.empty() && !is_list_; }
  bool is_list() const noexcept { return is_list_; }
  const std::vector<Number>& values() const noexcept { return values_; }

  friend Json to_config(const Factor& factor);
  friend void from_config(const Json& json, Factor& factor);

 private:
  std::vector<Number> values_;
  bool is_list_ = false;
};

// What all of them share: one image or many, where the channels are, and dictionaries.
class ImageLayer : public Layer {
 public:
  using Layer::Layer;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 protected:
  // Images are [batch, height, width, channels] in all of these. What is drawn in training:
  virtual std::vector<Tensor> draw(const Shape&) { return {}; }
  virtual Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) = 0;
  virtual Tensor transform_masks(const Tensor& masks, std::span<const Tensor>) { return masks; }

  bool is_channels_first_ = false;
  bool is_only_for_training_ = true;  // images and masks stay as they are otherwise,
  bool casts_ = true;                 // but for the images' type

 private:
  Tensor to_batch(const Tensor& images) const;
  Tensor from_batch(const Tensor& images, int rank) const;
};

struct ResizingConfig {
  static constexpr const char* kClassName = "Resizing";
  std::int64_t height = 0, width = 0;
  std::string interpolation = "bilinear";  // nearest, bicubic, lanczos3, lanczos5
  bool crop_to_aspect_ratio = false;       // cuts what would be distorted, or
  bool pad_to_aspect_ratio = false;        // pads
  std::string fill_mode = "constant";      // the only one
  Number fill_value = 0.0;
  bool antialias = false;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class ResizingLayer : public Configured<ImageLayer, ResizingConfig> {
 public:
  explicit ResizingLayer(ResizingConfig config, LayerOptions options = {});

 protected:
  Tensor transform_images(const Tensor& images, std::span<const Tensor>) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor>) override;

 private:
  Tensor resize(const Tensor& images, const std::string& interpolation) const;
};

struct CenterCropConfig {
  static constexpr const char* kClassName = "CenterCrop";
  std::int64_t height = 0, width = 0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
// The middle of images; what is smaller is resized.
class CenterCropLayer : public Configured<ImageLayer, CenterCropConfig> {
 public:
  explicit CenterCropLayer(CenterCropConfig config, LayerOptions options = {});

 protected:
  Tensor transform_images(const Tensor& images, std::span<const Tensor>) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor>) override;
};

struct RandomCropConfig {
  static constexpr const char* kClassName = "RandomCrop";
  std::int64_t height = 0, width = 0;
  ConfigSeed seed = {};  // none: made, and written
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
// The same window of all images of a batch.
class RandomCropLayer : public Configured<ImageLayer, RandomCropConfig> {
 public:
  explicit RandomCropLayer(RandomCropConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor> drawn) override;
};

struct RandomFlipConfig {
  static constexpr const char* kClassName = "RandomFlip";
  std::string mode = "horizontal_and_vertical";  // horizontal, vertical
  ConfigSeed seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
// Half of the images mirrored, in both directions at once where it has both.
class RandomFlipLayer : public Configured<ImageLayer, RandomFlipConfig> {
 public:
  explicit RandomFlipLayer(RandomFlipConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor> drawn) override;
};

struct RandomRotationConfig {
  static constexpr const char* kClassName = "RandomRotation";
  Factor factor = 0.0;                     // of a whole turn, against the clock
  std::string fill_mode = "reflect";       // constant, wrap, nearest
  std::string interpolation = "bilinear";  // nearest
  ConfigSeed seed = {};
  Number fill_value = 0.0;  // for constant
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class RandomRotationLayer : public Configured<ImageLayer, RandomRotationConfig> {
 public:
  explicit RandomRotationLayer(RandomRotationConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor> drawn) override;
};

struct RandomZoomConfig {
  static constexpr const char* kClassName = "RandomZoom";
  Factor height_factor = 0.0;  // of the height that is seen: above 0 zooms out
  Factor width_factor = {};    // none: as the height
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  ConfigSeed seed = {};
  Number fill_value = 0.0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class RandomZoomLayer : public Configured<ImageLayer, RandomZoomConfig> {
 public:
  explicit RandomZoomLayer(RandomZoomConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor> drawn) override;
};

struct RandomTranslationConfig {
  static constexpr const char* kClassName = "RandomTranslation";
  Factor height_factor = 0.0;  // of the height: above 0 is down
  Factor width_factor = 0.0;   // above 0 is to the right
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";
  ConfigSeed seed = {};
  Number fill_value = 0.0;
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class RandomTranslationLayer : public Configured<ImageLayer, RandomTranslationConfig> {
 public:
  explicit RandomTranslationLayer(RandomTranslationConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
  Tensor transform_masks(const Tensor& masks, std::span<const Tensor> drawn) override;
};

struct RandomContrastConfig {
  static constexpr const char* kClassName = "RandomContrast";
  Factor factor = 0.0;  // distances from the mean grow by 1 - lower to 1 + upper
  std::vector<Number> value_range = {0, 255};
  ConfigSeed seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class RandomContrastLayer : public Configured<ImageLayer, RandomContrastConfig> {
 public:
  explicit RandomContrastLayer(RandomContrastConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
};

struct RandomBrightnessConfig {
  static constexpr const char* kClassName = "RandomBrightness";
  Factor factor = 0.0;  // of the range of values, added
  std::vector<Number> value_range = {0, 255};
  ConfigSeed seed = {};
  std::string data_format = "channels_last";
  std::optional<std::string> bounding_box_format = {};
  void visit(ConfigVisitor& v);
};
class RandomBrightnessLayer : public Configured<ImageLayer, RandomBrightnessConfig> {
 public:
  explicit RandomBrightnessLayer(RandomBrightnessConfig config, LayerOptions options = {});

 protected:
  std::vector<Tensor> draw(const Shape& images) override;
  Tensor transform_images(const Tensor& images, std::span<const Tensor> drawn) override;
};

namespace layers {
using Resizing = LayerRef<ResizingLayer>;
using CenterCrop = LayerRef<CenterCropLayer>;
using RandomCrop = LayerRef<RandomCropLayer>;
using RandomFlip = LayerRef<RandomFlipLayer>;
using RandomRotation = LayerRef<RandomRotationLayer>;
using RandomZoom = LayerRef<RandomZoomLayer>;
using RandomTranslation = LayerRef<RandomTranslationLayer>;
using RandomContrast = LayerRef<RandomContrastLayer>;
using RandomBrightness = LayerRef<RandomBrightnessLayer>;
}  // namespace layers

}  // namespace plimsoll::keras

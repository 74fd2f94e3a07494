#include "plimsoll/keras/layers/image_preprocessing.h"

#include <algorithm>

#include "base/check.h"
#include "keras/image_ops.h"
#include "keras/layers/image_preprocessing_util.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Resizing", make_layer_of_config<ResizingLayer>},
    {"CenterCrop", make_layer_of_config<CenterCropLayer>},
    {"RandomCrop", make_layer_of_config<RandomCropLayer>},
    {"RandomFlip", make_layer_of_config<RandomFlipLayer>},
    {"RandomRotation", make_layer_of_config<RandomRotationLayer>},
    {"RandomZoom", make_layer_of_config<RandomZoomLayer>},
    {"RandomTranslation", make_layer_of_config<RandomTranslationLayer>},
    {"RandomContrast", make_layer_of_config<RandomContrastLayer>},
    {"RandomBrightness", make_layer_of_config<RandomBrightnessLayer>},
};

}  // namespace

std::span<const ClassRow> image_preprocessing_layers() {
  return kLayers;
}

Json to_config(const Factor& factor) {
  if (factor.is_none()) return Json();
  return factor.is_list() ? to_config(factor.values_) : to_config(factor.values_[0]);
}

void from_config(const Json& json, Factor& factor) {
  factor = Factor();
  factor.is_list_ = json.is_array();
  if (json.is_array()) {
    from_config(json, factor.values_);
  } else if (!json.is_null()) {
    from_config(json, factor.values_.emplace_back());
  }
}

void check_image_size(std::int64_t height, std::int64_t width, const char* class_name) {
  PLIMSOLL_CHECK(height > 0 && width > 0, InvalidArgumentError,
                 "Arguments `height` and `width` of {} should be positive. Received: height={}, "
                 "width={}",
                 class_name, height, width);
}

Bounds base_factor_bounds(Factor& factor, int least, int most) {
  if (factor.is_none()) factor = 0.0;
  const std::vector<Number> given = factor.values();
  const bool is_good = factor.is_list() ? given.size() == 2 && given[0] <= most && given[1] >= least
                                        : given[0] >= least && given[0] <= most;
  PLIMSOLL_CHECK(is_good, InvalidArgumentError,
                 "The `factor` argument should be a number (or a list of two numbers) in the range "
                 "[{}, {}]. Received: factor={}",
                 least, most, to_config(factor).dump());
  if (factor.is_list()) {
    if (given[0] > given[1]) factor = {given[1], given[0]};
  } else {
    const double size = std::abs(given[0]);
    const bool is_whole = to_config(given[0]).is_int();
    const Number upper = is_whole ? Number(static_cast<std::int64_t>(size)) : Number(size);
    const Number negative = is_whole ? Number(-static_cast<std::int64_t>(size)) : Number(-size);
    factor = {-size < least ? Number(least) : negative, upper};
  }
  return {factor.values()[0], factor.values()[1]};
}

Tensor ImageLayer::to_batch(const Tensor& images) const {
  PLIMSOLL_CHECK(images.rank() == 3 || images.rank() == 4, InvalidArgumentError,
                 "Expected image tensor to have rank 3 (single image) or 4 (batch of images). "
                 "Received: data.shape={}",
                 PartialShape(images.shape()).to_string());
  const Tensor batch = images.rank() == 3 ? expand_dims(images, 0) : images;
  return is_channels_first_ ? transpose(batch, {0, 2, 3, 1}) : batch;
}

Tensor ImageLayer::from_batch(const Tensor& images, int rank) const {
  const Tensor batch = is_channels_first_ ? transpose(images, {0, 3, 1, 2}) : images;
  return rank == 3 ? squeeze(batch, {0}) : batch;
}

Nested ImageLayer::call(const Nested& inputs, const CallArgs& args) {
  const Nested* found = inputs.is_dict() ? inputs.find("images") : &inputs;
  PLIMSOLL_CHECK(found, InvalidArgumentError,
                 "layer '{}' was called on a dictionary without \"images\"", name());
  PLIMSOLL_CHECK(!inputs.find("bounding_boxes"), UnimplementedError,
                 "layer '{}' does not change bounding boxes; it takes \"images\", \"labels\" and "
                 "\"segmentation_masks\"",
                 name());
  const Tensor& images = found->leaf().tensor();
  const bool training = args.training.value_or(true);
  if (!training && is_only_for_training_) {
    PLIMSOLL_CHECK(images.rank() == 3 || images.rank() == 4, InvalidArgumentError,
                   "Expected image tensor to have rank 3 (single image) or 4 (batch of images). "
                   "Received: data.shape={}",
                   PartialShape(images.shape()).to_string());
    if (!casts_ || images.dtype() == compute_dtype()) return inputs;
    if (!inputs.is_dict()) return cast(images, compute_dtype());
    Nested outputs = inputs;
    outputs["images"] = Nested(cast(images, compute_dtype()));
    return outputs;
  }
  const Tensor batch = to_batch(images);
  const std::vector<Tensor> drawn =
      is_only_for_training_ ? draw(batch.shape()) : std::vector<Tensor>();
  const Tensor changed = from_batch(transform_images(batch, drawn), images.rank());
  if (!inputs.is_dict()) return changed;
  Nested outputs = inputs;
  outputs["images"] = Nested(changed);
  if (const Nested* masks = inputs.find("segmentation_masks")) {
    const Tensor& given = masks->leaf().tensor();
    outputs["segmentation_masks"] =
        Nested(from_batch(transform_masks(to_batch(given), drawn), given.rank()));
  }
  return outputs;
}

void ResizingConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("height", height);
  v("width", width);
  v("interpolation", interpolation);
  v("crop_to_aspect_ratio", crop_to_aspect_ratio);
  v("pad_to_aspect_ratio", pad_to_aspect_ratio);
  v("fill_mode", fill_mode);
  v("fill_value", fill_value);
  v("antialias", antialias);
}

ResizingLayer::ResizingLayer(ResizingConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  is_only_for_training_ = false;
  check_image_size(config_.height, config_.width, kClassName);
  const std::string& how = config_.interpolation;
  PLIMSOLL_CHECK(how == "bilinear" || how == "nearest" || how == "bicubic" || how == "lanczos3" ||
                     how == "lanczos5",
                 InvalidArgumentError,
                 "Invalid value for argument `interpolation`. Expected of one ('bilinear', "
                 "'nearest', 'lanczos3', 'lanczos5', 'bicubic'). Received: interpolation={}",
                 how);
  PLIMSOLL_CHECK(
      config_.fill_mode == "constant", InvalidArgumentError,
      "Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
      "fill_mode={}",
      config_.fill_mode);
  PLIMSOLL_CHECK(!config_.crop_to_aspect_ratio || !config_.pad_to_aspect_ratio,
                 InvalidArgumentError,
                 "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
}

Tensor ResizingLayer::resize(const Tensor& images, const std::string& interpolation) const {
  const Tensor resized = resize_images(images, {config_.height, config_.width},
                                       {.interpolation = interpolation,
                                        .antialias = config_.antialias,
                                        .crop_to_aspect_ratio = config_.crop_to_aspect_ratio,
                                        .pad_to_aspect_ratio = config_.pad_to_aspect_ratio,
                                        .fill_value = config_.fill_value});
  if (resized.dtype() == images.dtype()) return resized;
  return saturate_cast(is_integer(images.dtype()) ? round(resized) : resized, images.dtype());
}

Tensor ResizingLayer::transform_images(const Tensor& images, std::span<const Tensor>) {
  return resize(images, config_.interpolation);
}

Tensor ResizingLayer::transform_masks(const Tensor& masks, std::span<const Tensor>) {
  return resize(masks, "nearest");
}

void CenterCropConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("height", height);
  v("width", width);
}

CenterCropLayer::CenterCropLayer(CenterCropConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  is_only_for_training_ = false;
  check_image_size(config_.height, config_.width, kClassName);
}

Tensor CenterCropLayer::transform_images(const Tensor& images, std::span<const Tensor>) {
  const Tensor x = cast(images, compute_dtype());
  const std::int64_t more_height = x.shape()[1] - config_.height;
  const std::int64_t more_width = x.shape()[2] - config_.width;
  if (more_height < 0 || more_width < 0) return smart_resize(x, {config_.height, config_.width});
  return slice(x, {0, more_height / 2, more_width / 2, 0}, {-1, config_.height, config_.width, -1});
}

Tensor CenterCropLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return transform_images(masks, drawn);
}

}  // namespace plimsoll::keras

// Images changed at random, each in its own way.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/image_ops.h"
#include "keras/layers/image_preprocessing_util.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

template <class C>
void check_affine_config(const C& config) {
  const std::string& mode = config.fill_mode;
  const std::string& how = config.interpolation;
  PLIMSOLL_CHECK(mode == "reflect" || mode == "wrap" || mode == "constant" || mode == "nearest",
                 InvalidArgumentError,
                 "Unknown `fill_mode` {}. Expected of one ('reflect', 'wrap', 'constant', "
                 "'nearest').",
                 mode);
  PLIMSOLL_CHECK(how == "nearest" || how == "bilinear", InvalidArgumentError,
                 "Unknown `interpolation` {}. Expected of one ('nearest', 'bilinear').", how);
}

// Lower and upper bound of a factor in [-1, 1]; of zoom in (-1, 1].
Bounds factor_bounds(const Factor& factor, const char* name, const char* what, bool takes_least) {
  const auto is_good = [&](double f) { return f <= 1 && (takes_least ? f >= -1 : f > -1); };
  const std::vector<Number>& given = factor.values();
  PLIMSOLL_CHECK(!factor.is_none() && given.size() == (factor.is_list() ? 2U : 1U),
                 InvalidArgumentError, "{}Received: {}={}", what, name, to_config(factor).dump());
  for (const Number& f : given)
    PLIMSOLL_CHECK(is_good(f), InvalidArgumentError, "{}Received: input_number={}", what,
                   to_config(f).dump());
  if (!factor.is_list()) return {-std::abs(given[0]), std::abs(given[0])};
  return {std::min<double>(given[0], given[1]), std::max<double>(given[0], given[1])};
}

// Numbers of [0, 1) brought into bounds.
Tensor within(const Tensor& unit, Bounds bounds) {
  return unit * (bounds[1] - bounds[0]) + bounds[0];
}

// Two columns of numbers in [0, 1): one draw, so that they do not depend on each other.
std::vector<Tensor> draw_pair(std::int64_t batch, ConfigSeed seed) {
  return split(random::uniform({batch, 2}, 0, 1.0, float32, seed), 2, 1);
}

template <class C>
AffineOptions affine_options(const C& config, bool is_mask = false) {
  return {is_mask ? "nearest" : config.interpolation, config.fill_mode, config.fill_value};
}

// About the middle of the images, against the clock.
Affine rotation(const Tensor& angle, const Shape& images) {
  const Tensor radians = angle * (std::numbers::pi / 180);
  const double cx = 0.5 * static_cast<double>(images[2] - 1);
  const double cy = 0.5 * static_cast<double>(images[1] - 1);
  const Tensor c = cos(radians), s = sin(radians);
  return {c, -s, cx - c * cx + s * cy, s, c, cy - s * cx - c * cy};
}

Affine zoom(std::span<const Tensor> zooms, const Shape& images) {
  const double cx = static_cast<double>(images[2] - 1) / 2;
  const double cy = static_cast<double>(images[1] - 1) / 2;
  const Tensor none = zeros_like(zooms[0]);
  return {zooms[1], none, (1.0 - zooms[1]) * cx, none, zooms[0], (1.0 - zooms[0]) * cy};
}

Affine translation(std::span<const Tensor> by) {
  const Tensor none = zeros_like(by[0]), one = ones_like(by[0]);
  return {one, none, -by[1], none, one, -by[0]};
}

constexpr const char* kZoomFactor =
    "The `height_factor` and `width_factor` arguments should be a number (or a list of two "
    "numbers) in the range (-1.0, 1.0]. ";
constexpr const char* kTranslationFactor =
    "The `factor` argument should be a number (or a list of two numbers) in the range [-1.0, "
    "1.0]. ";

Bounds zoom_bounds(const Factor& factor, const char* name) {
  const Bounds bounds = factor_bounds(factor, name, kZoomFactor, false);
  return {1 + bounds[0], 1 + bounds[1]};
}

}  // namespace

void RandomRotationConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("factor", factor);
  v("fill_mode", fill_mode);
  v("fill_value", fill_value);
  v("interpolation", interpolation);
  v("seed", seed);
}

RandomRotationLayer::RandomRotationLayer(RandomRotationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  base_factor_bounds(config_.factor, -1, 1);
  check_affine_config(config_);
}

std::vector<Tensor> RandomRotationLayer::draw(const Shape& images) {
  const std::vector<Number>& bounds = config_.factor.values();
  return {random::uniform({images[0], 1}, bounds[0] * 360, bounds[1] * 360, float32, config_.seed)};
}

Tensor RandomRotationLayer::transform_images(const Tensor& images, std::span<const Tensor> drawn) {
  return affine_transform(cast(images, compute_dtype()), rotation(drawn[0], images.shape()),
                          affine_options(config_));
}

Tensor RandomRotationLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return affine_transform(masks, rotation(drawn[0], masks.shape()), affine_options(config_, true));
}

void RandomZoomConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("height_factor", height_factor);
  v("width_factor", width_factor);
  v("fill_mode", fill_mode);
  v("interpolation", interpolation);
  v("seed", seed);
  v("fill_value", fill_value);
}

RandomZoomLayer::RandomZoomLayer(RandomZoomConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  zoom_bounds(config_.height_factor, "height_factor");
  if (!config_.width_factor.is_none()) zoom_bounds(config_.width_factor, "width_factor");
  check_affine_config(config_);
}

std::vector<Tensor> RandomZoomLayer::draw(const Shape& images) {
  const std::vector<Tensor> unit = draw_pair(images[0], config_.seed);
  const Tensor height = within(unit[0], zoom_bounds(config_.height_factor, "height_factor"));
  if (config_.width_factor.is_none()) return {height, height};
  return {height, within(unit[1], zoom_bounds(config_.width_factor, "width_factor"))};
}

Tensor RandomZoomLayer::transform_images(const Tensor& images, std::span<const Tensor> drawn) {
  return affine_transform(cast(images, compute_dtype()), zoom(drawn, images.shape()),
                          affine_options(config_));
}

Tensor RandomZoomLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return affine_transform(masks, zoom(drawn, masks.shape()), affine_options(config_, true));
}

void RandomTranslationConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("height_factor", height_factor);
  v("width_factor", width_factor);
  v("fill_mode", fill_mode);
  v("interpolation", interpolation);
  v("seed", seed);
  v("fill_value", fill_value);
}

RandomTranslationLayer::RandomTranslationLayer(RandomTranslationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  factor_bounds(config_.height_factor, "height_factor", kTranslationFactor, true);
  factor_bounds(config_.width_factor, "width_factor", kTranslationFactor, true);
  check_affine_config(config_);
}

std::vector<Tensor> RandomTranslationLayer::draw(const Shape& images) {
  const std::vector<Tensor> unit = draw_pair(images[0], config_.seed);
  const Bounds height =
      factor_bounds(config_.height_factor, "height_factor", kTranslationFactor, true);
  const Bounds width =
      factor_bounds(config_.width_factor, "width_factor", kTranslationFactor, true);
  return {within(unit[0], height) * static_cast<double>(images[1]),
          within(unit[1], width) * static_cast<double>(images[2])};
}

Tensor RandomTranslationLayer::transform_images(const Tensor& images,
                                                std::span<const Tensor> drawn) {
  return affine_transform(cast(images, compute_dtype()), translation(drawn),
                          affine_options(config_));
}

Tensor RandomTranslationLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return affine_transform(masks, translation(drawn), affine_options(config_, true));
}

void RandomFlipConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("seed", seed);
  v("mode", mode);
}

RandomFlipLayer::RandomFlipLayer(RandomFlipConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  const std::string& mode = config_.mode;
  PLIMSOLL_CHECK(mode == "horizontal" || mode == "vertical" || mode == "horizontal_and_vertical",
                 InvalidArgumentError,
                 "Argument `mode` of RandomFlip should be one of 'horizontal', 'vertical' and "
                 "'horizontal_and_vertical'. Received: mode={}",
                 mode);
}

std::vector<Tensor> RandomFlipLayer::draw(const Shape& images) {
  const Tensor unit = random::uniform({images[0], 1, 1, 1}, 0, 1.0, float32, config_.seed);
  return {less_equal(unit, fill({}, 0.5))};
}

Tensor RandomFlipLayer::transform_images(const Tensor& images, std::span<const Tensor> drawn) {
  const Tensor x = cast(images, compute_dtype());
  std::vector<std::int64_t> axes;
  if (config_.mode != "horizontal") axes.push_back(1);
  if (config_.mode != "vertical") axes.push_back(2);
  return where(drawn[0], reverse(x, axes), x);
}

Tensor RandomFlipLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return transform_images(masks, drawn);
}

void RandomCropConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("height", height);
  v("width", width);
  v("seed", seed);
}

RandomCropLayer::RandomCropLayer(RandomCropConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  casts_ = false;
  check_image_size(config_.height, config_.width, kClassName);
  if (!config_.seed) config_.seed = make_default_seed();
}

// Row and column at which the window begins; none for images that are not larger.
std::vector<Tensor> RandomCropLayer::draw(const Shape& images) {
  if (images[1] <= config_.height || images[2] <= config_.width) return {};
  const auto most = [](std::int64_t n) { return static_cast<double>(n + 1); };
  const std::vector<Tensor> unit = split(random::uniform({2}, 0, 1.0, float32, config_.seed), 2, 0);
  return {cast(unit[0] * most(images[1] - config_.height), int32),
          cast(unit[1] * most(images[2] - config_.width), int32)};
}

Tensor RandomCropLayer::transform_images(const Tensor& images, std::span<const Tensor> drawn) {
  const Tensor x = cast(images, compute_dtype());
  if (!drawn.empty()) {
    const Tensor rows = gather(x, range(0, config_.height) + drawn[0], 1);
    return gather(rows, range(0, config_.width) + drawn[1], 2);
  }
  // The window in the middle of the target's proportions says where it begins, not how large it is.
  const std::int64_t height = x.shape()[1], width = x.shape()[2];
  const auto begin = [](std::int64_t size, std::int64_t other, std::int64_t to, std::int64_t over) {
    const auto fit =
        static_cast<std::int64_t>(static_cast<double>(other * to) / static_cast<double>(over));
    return (size - std::max<std::int64_t>(std::min(size, fit), 1)) / 2;
  };
  const std::int64_t top = begin(height, width, config_.height, config_.width);
  const std::int64_t left = begin(width, height, config_.width, config_.height);
  const std::int64_t h = std::min(config_.height, height - top);
  const std::int64_t w = std::min(config_.width, width - left);
  const Tensor cropped = slice(x, {0, top, left, 0}, {-1, h, w, -1});
  if (h == config_.height && w == config_.width) return cropped;
  return cast(image::resize(cropped, {config_.height, config_.width}), compute_dtype());
}

Tensor RandomCropLayer::transform_masks(const Tensor& masks, std::span<const Tensor> drawn) {
  return transform_images(masks, drawn);
}

void RandomContrastConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("factor", factor);
  v("value_range", value_range);
  v("seed", seed);
}

namespace {

void check_value_range(const std::vector<Number>& range) {
  PLIMSOLL_CHECK(range.size() == 2, InvalidArgumentError,
                 "The `value_range` argument should be a list of two numbers. Received: "
                 "value_range={}",
                 to_config(range).dump());
}

}  // namespace

RandomContrastLayer::RandomContrastLayer(RandomContrastConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  casts_ = false;
  base_factor_bounds(config_.factor, 0, 1);
  check_value_range(config_.value_range);
}

std::vector<Tensor> RandomContrastLayer::draw(const Shape& images) {
  const std::vector<Number>& by = config_.factor.values();
  return {
      random::uniform({images[0], 1, 1, 1}, 1 - by[0], 1 + by[1], compute_dtype(), config_.seed)};
}

Tensor RandomContrastLayer::transform_images(const Tensor& images, std::span<const Tensor> drawn) {
  const Tensor x = cast(images, compute_dtype());
  const Tensor mean = reduce_mean(x, {1, 2}, true);
  return clip_by_value((x - mean) * drawn[0] + mean, config_.value_range[0],
                       config_.value_range[1]);
}

void RandomBrightnessConfig::visit(ConfigVisitor& v) {
  visit_image_config(v, *this);
  v("factor", factor);
  v("value_range", value_range);
  v("seed", seed);
}

RandomBrightnessLayer::RandomBrightnessLayer(RandomBrightnessConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  is_channels_first_ = standardize(config_.data_format);
  casts_ = false;
  base_factor_bounds(config_.factor, -1, 1);
  std::vector<Number>& range = config_.value_range;
  check_value_range(range);
  if (range[0] > range[1]) std::swap(range[0], range[1]);
}

std::vector<Tensor> RandomBrightnessLayer::draw(const Shape& images) {
  const std::vector<Number>& by = config_.factor.values();
  const Tensor factor = random::uniform({images[0], 1, 1, 1}, by[0], by[1], float32, config_.seed);
  return {factor * (config_.value_range[1] - config_.value_range[0])};
}

Tensor RandomBrightnessLayer::transform_images(const Tensor& images,
                                               std::span<const Tensor> drawn) {
  return clip_by_value(images + cast(drawn[0], images.dtype()), config_.value_range[0],
                       config_.value_range[1]);
}

}  // namespace plimsoll::keras

// Zeros around tensors, and margins that are cut off.
#include <algorithm>

#include "base/check.h"
#include "keras/layers/windows.h"
#include "plimsoll/keras/layers/reshaping.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

Margins Margins::standardized(std::size_t num, const char* what) const {
  std::vector<Pair> made = pairs_;
  if (!is_list_) made.resize(num, pairs_[0]);
  const bool is_one_pair =
      is_list_ && num == 1 && made.size() == 2 &&
      std::ranges::all_of(made, [](const Pair& p) { return p.before == p.after; });
  if (is_one_pair) made = {Pair(made[0].before, made[1].before)};
  PLIMSOLL_CHECK(made.size() == num, InvalidArgumentError,
                 "`{}` should have {} elements. Received: {}={}.", what, num == 1 ? 2 : num, what,
                 to_config(*this).dump());
  for (const Pair& p : made)
    PLIMSOLL_CHECK(p.before >= 0 && p.after >= 0, InvalidArgumentError,
                   "`{}` cannot be negative. Received: {}={}.", what, what,
                   to_config(*this).dump());
  return Margins(std::move(made));
}

Json to_config(const Margins& margins) {
  const auto pair = [](const Margins::Pair& p) { return Json::array({p.before, p.after}); };
  if (!margins.is_list_) return margins.pairs_[0].before;
  if (margins.pairs_.size() == 1) return pair(margins.pairs_[0]);
  Json list = Json::array();
  for (const Margins::Pair& p : margins.pairs_) list.push_back(pair(p));
  return list;
}

void from_config(const Json& json, Margins& margins) {
  if (!json.is_array()) {
    margins = Margins(static_cast<int>(json.as_int()));
    return;
  }
  std::vector<Margins::Pair> pairs;
  for (const Json& item : json.as_array()) {
    const std::size_t num = item.is_array() ? item.as_array().size() : 0;
    PLIMSOLL_CHECK(!item.is_array() || num == 2, InvalidArgumentError,
                   "an int, or a tuple of 2 ints is wanted for each dimension. Received: {}",
                   json.dump());
    pairs.push_back(num == 2
                        ? Margins::Pair(item.as_array()[0].as_int(), item.as_array()[1].as_int())
                        : Margins::Pair(item.as_int()));
  }
  margins = Margins(std::move(pairs));
}

template <int rank>
ZeroPaddingLayer<rank>::ZeroPaddingLayer(ZeroPaddingConfig<rank> config, LayerOptions options)
    : Configured<Layer, ZeroPaddingConfig<rank>>(std::move(config), std::move(options)) {
  this->config_.padding = this->config_.padding.standardized(rank, "padding");
  this->config_.data_format = standardize_data_format(this->config_.data_format);
  this->input_spec = {{.ndim = rank + 2}};
}

template <int rank>
Nested ZeroPaddingLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  Paddings paddings(rank + 2, {0, 0});
  auto at = paddings.begin() + first_spatial_axis(this->config_.data_format);
  for (const Margins::Pair& p : this->config_.padding.pairs()) *at++ = {p.before, p.after};
  return pad(inputs, paddings);
}

template <int rank>
CroppingLayer<rank>::CroppingLayer(CroppingConfig<rank> config, LayerOptions options)
    : Configured<Layer, CroppingConfig<rank>>(std::move(config), std::move(options)) {
  this->config_.cropping = this->config_.cropping.standardized(rank, "cropping");
  this->config_.data_format =
      rank == 1 ? "channels_last" : standardize_data_format(this->config_.data_format);
  this->input_spec = {{.ndim = rank + 2}};
}

template <int rank>
Nested CroppingLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  const Tensor& x = inputs.leaf().tensor();
  std::vector<std::int64_t> begin(rank + 2, 0), size(rank + 2, -1);
  for (int i = 0; i < rank; ++i) {
    const Margins::Pair& p = this->config_.cropping.pairs()[static_cast<std::size_t>(i)];
    const int axis = first_spatial_axis(this->config_.data_format) + i;
    const auto at = static_cast<std::size_t>(axis);
    begin[at] = p.before;
    size[at] = x.shape()[axis] - p.before - p.after;
    PLIMSOLL_CHECK(size[at] > 0, InvalidArgumentError,
                   "Values in `cropping` argument should be smaller than the corresponding spatial "
                   "dimension of the input. Received: inputs.shape={}, cropping={}",
                   PartialShape(x.shape()).to_string(), to_config(this->config_.cropping).dump());
  }
  return slice(x, begin, size);
}

template class ZeroPaddingLayer<1>;
template class ZeroPaddingLayer<2>;
template class ZeroPaddingLayer<3>;
template class CroppingLayer<1>;
template class CroppingLayer<2>;
template class CroppingLayer<3>;

}  // namespace plimsoll::keras

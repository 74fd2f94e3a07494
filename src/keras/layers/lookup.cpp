#include "plimsoll/keras/layers/lookup.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "keras/layers/preprocessing_util.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"StringLookup", make_layer_of_config<LookupLayer<StringLookupConfig>>},
    {"IntegerLookup", make_layer_of_config<LookupLayer<IntegerLookupConfig>>},
    {"TextVectorization", make_layer_of_config<TextVectorizationLayer>},
};

template <class C>
void visit_lookup(ConfigVisitor& v, C& c) {
  constexpr bool kIsString = std::is_same_v<typename C::Token, std::string>;
  v("invert", c.invert);
  v("max_tokens", c.max_tokens);
  v("num_oov_indices", c.num_oov_indices);
  v("oov_token", c.oov_token);
  v("mask_token", c.mask_token);
  v("output_mode", c.output_mode);
  v.constant("sparse", false);
  v("pad_to_max_tokens", c.pad_to_max_tokens);
  if (!kIsString) v.constant("vocabulary_dtype", "int64");
  v("idf_weights", c.idf_weights);
  v("vocabulary", c.vocabulary);
  v("vocabulary_size", c.vocabulary_size);
  v.constant("oov_method", "floormod");
  v.constant("salt", nullptr);
  if (kIsString) v.constant("encoding", "utf-8");
  v.ignore("has_input_vocabulary");
}

std::string text_of(const std::string& token) {
  return token;
}
std::string text_of(std::int64_t token) {
  return std::to_string(token);
}
template <class Token>
Token token_of(const std::string& text) {
  if constexpr (std::is_same_v<Token, std::string>) {
    return text;
  } else {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    PLIMSOLL_CHECK(read.ec == std::errc() && read.ptr == text.data() + text.size(),
                   InvalidArgumentError, "a vocabulary of numbers has the line '{}'", text);
    return value;
  }
}

std::string shown(const std::string& token) {
  return token;
}
std::string shown(std::int64_t token) {
  return std::to_string(token);
}

template <class Token>
std::vector<Token> tokens_of(const Tensor& x) {
  if constexpr (std::is_same_v<Token, std::string>) {
    PLIMSOLL_CHECK(x.dtype() == DType::kString, InvalidArgumentError,
                   "StringLookup needs strings. Received: a tensor of {}", dtype_name(x.dtype()));
    return x.to_vector<std::string>();
  } else {
    return (x.dtype() == DType::kInt64 ? x : cast(x, int64)).template to_vector<std::int64_t>();
  }
}

}  // namespace

std::span<const ClassRow> lookup_layers() {
  return kLayers;
}

void StringLookupConfig::visit(ConfigVisitor& v) {
  visit_lookup(v, *this);
}
void IntegerLookupConfig::visit(ConfigVisitor& v) {
  visit_lookup(v, *this);
}

template <class C>
LookupLayer<C>::LookupLayer(C config, LayerOptions options)
    : Configured<AdaptableLayer, C>(std::move(config), std::move(options)) {
  C& c = this->config_;
  PLIMSOLL_CHECK(!c.max_tokens || *c.max_tokens > 1, InvalidArgumentError,
                 "If set, `max_tokens` must be greater than 1. Received: max_tokens={}",
                 *c.max_tokens);
  PLIMSOLL_CHECK(!c.pad_to_max_tokens || c.max_tokens, InvalidArgumentError,
                 "If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None");
  PLIMSOLL_CHECK(c.num_oov_indices >= 0, InvalidArgumentError,
                 "`num_oov_indices` must be greater than or equal to 0. Received: "
                 "num_oov_indices={}",
                 c.num_oov_indices);
  if (c.output_mode == "binary") c.output_mode = "multi_hot";
  if (c.output_mode == "tf-idf") c.output_mode = "tf_idf";
  const std::set<std::string> modes{"int", "one_hot", "multi_hot", "count", "tf_idf"};
  PLIMSOLL_CHECK(modes.contains(c.output_mode), InvalidArgumentError,
                 "Unknown argument for `output_mode` of layer {}. Expected one of ('int', "
                 "'one_hot', 'multi_hot', 'count', 'tf_idf'). Received: {}",
                 C::kClassName, c.output_mode);
  PLIMSOLL_CHECK(!c.invert || c.output_mode == "int", InvalidArgumentError,
                 "`output_mode` must be `'int'` when `invert` is true. Received: output_mode={}",
                 c.output_mode);
  PLIMSOLL_CHECK((std::is_same_v<Token, std::int64_t>) || c.num_oov_indices <= 1,
                 UnimplementedError,
                 "StringLookup with num_oov_indices={}: words are not hashed here; 0 and 1 are "
                 "supported",
                 c.num_oov_indices);
  this->autocast_ = false;
  this->set_built(true);
  if (c.vocabulary) set_vocabulary(*c.vocabulary, c.idf_weights);
}

template <class C>
std::int64_t LookupLayer<C>::oov_start() const {
  return this->config_.mask_token && this->config_.output_mode == "int" ? 1 : 0;
}

template <class C>
std::int64_t LookupLayer<C>::vocabulary_size() const {
  return static_cast<std::int64_t>(tokens_.size()) + token_start();
}

template <class C>
void LookupLayer<C>::set_tokens(std::vector<Token> tokens) {
  tokens_ = std::move(tokens);
  indices_.clear();
  std::int64_t next = token_start();
  for (const Token& token : tokens_) indices_.emplace(token, next++);
  this->config_.vocabulary_size = vocabulary_size();
}

template <class C>
void LookupLayer<C>::set_vocabulary(const std::vector<Token>& vocabulary,
                                    const std::optional<std::vector<double>>& idf_weights) {
  const C& c = this->config_;
  PLIMSOLL_CHECK(!vocabulary.empty(), InvalidArgumentError,
                 "Cannot set an empty vocabulary. Received: vocabulary=[]");
  PLIMSOLL_CHECK((c.output_mode == "tf_idf") == idf_weights.has_value(), InvalidArgumentError,
                 "`idf_weights` must be set if and only if output_mode is 'tf_idf'. Received: "
                 "output_mode={}",
                 c.output_mode);
  std::vector<Token> special;
  if (oov_start() == 1) special.push_back(*c.mask_token);
  if (c.oov_token) special.resize(static_cast<std::size_t>(token_start()), *c.oov_token);
  const bool has_special = vocabulary.size() >= special.size() &&
                           std::equal(special.begin(), special.end(), vocabulary.begin());
  std::vector<Token> tokens(
      vocabulary.begin() + (has_special ? static_cast<std::ptrdiff_t>(special.size()) : 0),
      vocabulary.end());
  std::set<Token> seen;
  for (const Token& token : tokens) {
    PLIMSOLL_CHECK(seen.insert(token).second, InvalidArgumentError,
                   "The passed vocabulary has at least one repeated term. Please uniquify your "
                   "dataset. The repeated term is: {}",
                   shown(token));
    PLIMSOLL_CHECK(!(c.mask_token && token == *c.mask_token) &&
                       !(c.invert && c.oov_token && token == *c.oov_token),
                   InvalidArgumentError,
                   "Found reserved token {} at unexpected location in `vocabulary`. Note that "
                   "passed `vocabulary` does not need to include the OOV and mask tokens.",
                   shown(token));
  }
  const std::int64_t size = token_start() + static_cast<std::int64_t>(tokens.size());
  PLIMSOLL_CHECK(!c.max_tokens || size <= *c.max_tokens, InvalidArgumentError,
                 "Attempted to set a vocabulary larger than the maximum vocab size. Received "
                 "vocabulary size is {}; `max_tokens` is {}.",
                 size, *c.max_tokens);
  if (idf_weights) {
    PLIMSOLL_CHECK(idf_weights->size() == vocabulary.size(), InvalidArgumentError,
                   "`idf_weights` must be the same length as vocabulary. len(idf_weights) is {}; "
                   "len(vocabulary) is {}",
                   idf_weights->size(), vocabulary.size());
    double mean = 0;
    for (const double w : *idf_weights) mean += w / static_cast<double>(idf_weights->size());
    idf_weights_.assign(has_special ? 0 : special.size(), static_cast<float>(mean));
    for (const double w : *idf_weights) idf_weights_.push_back(static_cast<float>(w));
    if (c.pad_to_max_tokens) idf_weights_.resize(static_cast<std::size_t>(*c.max_tokens), 0);
  }
  set_tokens(std::move(tokens));
}

template <class C>
std::vector<typename C::Token> LookupLayer<C>::get_vocabulary(bool include_special_tokens) const {
  if (!include_special_tokens) return tokens_;
  std::vector<Token> all;
  if (oov_start() == 1) all.push_back(*this->config_.mask_token);
  all.resize(static_cast<std::size_t>(token_start()), this->config_.oov_token.value_or(Token()));
  all.insert(all.end(), tokens_.begin(), tokens_.end());
  return all;
}

// A line for each token, with the special ones in front.
template <class C>
Assets LookupLayer<C>::save_assets() const {
  if (this->config_.vocabulary || tokens_.empty()) return {};  // it is in the configuration
  std::vector<std::string> lines;
  for (const Token& token : get_vocabulary()) lines.push_back(text_of(token));
  return {{"vocabulary.txt", fmt::format("{}", fmt::join(lines, "\n"))}};
}

template <class C>
void LookupLayer<C>::load_assets(const Assets& assets) {
  const auto found = assets.find("vocabulary.txt");
  if (found == assets.end() || this->config_.vocabulary) return;
  PLIMSOLL_CHECK(
      this->config_.output_mode != "tf_idf", UnimplementedError,
      "layer '{}' has learnt its vocabulary with output_mode='tf_idf': its weights are not "
      "read from files yet. Give it `vocabulary` and `idf_weights` when it is made",
      this->name());
  std::vector<Token> tokens;
  std::size_t begin = 0;
  const std::string& text = found->second;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    tokens.push_back(token_of<Token>(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  set_vocabulary(tokens);
}

template <class C>
void LookupLayer<C>::adapt(std::span<const Tensor> batches) {
  const C& c = this->config_;
  PLIMSOLL_CHECK(!c.vocabulary, FailedPreconditionError,
                 "Cannot adapt layer '{}' after setting a static vocabulary via `vocabulary` "
                 "argument or `set_vocabulary()` method.",
                 this->name());
  std::map<Token, std::int64_t> counts, documents;
  std::int64_t num_documents = 0;
  for (const Tensor& batch : batches) {
    const std::vector<Token> tokens = tokens_of<Token>(batch);
    const auto rows = static_cast<std::size_t>(batch.rank() == 0 ? 1 : batch.shape()[0]);
    num_documents += static_cast<std::int64_t>(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      std::set<Token> here;
      const std::size_t width = tokens.size() / rows;
      for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
        ++counts[tokens[i]];
        if (here.insert(tokens[i]).second) ++documents[tokens[i]];
      }
    }
  }
  if (c.mask_token) counts.erase(*c.mask_token);
  if (c.oov_token) counts.erase(*c.oov_token);
  std::vector<std::pair<std::int64_t, Token>> sorted;
  for (const auto& [token, count] : counts) sorted.emplace_back(count, token);
  std::ranges::sort(sorted, std::greater<>());
  if (c.max_tokens)
    sorted.resize(std::min(sorted.size(), static_cast<std::size_t>(*c.max_tokens - token_start())));
  std::vector<Token> tokens;
  for (auto& [count, token] : sorted) tokens.push_back(std::move(token));
  if (c.output_mode == "tf_idf") {
    std::vector<float> weights;
    double mean = 0;
    for (const Token& token : tokens) {
      const double seen = 1 + static_cast<double>(documents[token]);
      weights.push_back(
          static_cast<float>(std::log(1 + static_cast<double>(num_documents) / seen)));
      mean += static_cast<double>(weights.back()) / static_cast<double>(tokens.size());
    }
    idf_weights_.assign(static_cast<std::size_t>(token_start()), static_cast<float>(mean));
    idf_weights_.insert(idf_weights_.end(), weights.begin(), weights.end());
    if (c.pad_to_max_tokens) idf_weights_.resize(static_cast<std::size_t>(*c.max_tokens), 0);
  }
  set_tokens(std::move(tokens));
}

template <class C>
std::int64_t LookupLayer<C>::depth() const {
  const C& c = this->config_;
  PLIMSOLL_CHECK(c.pad_to_max_tokens || c.vocabulary_size, FailedPreconditionError,
                 "When using `output_mode={}` and `pad_to_max_tokens=False`, you must set the "
                 "layer's vocabulary before calling it. Either pass a `vocabulary` argument to the "
                 "layer, or call `adapt` with some sample data.",
                 c.output_mode);
  return c.pad_to_max_tokens ? *c.max_tokens : *c.vocabulary_size;
}

template <class C>
std::int64_t LookupLayer<C>::index_of(const Token& token) const {
  const C& c = this->config_;
  if (c.mask_token && token == *c.mask_token)
    return c.output_mode == "int" ? 0 : std::numeric_limits<std::int64_t>::max();
  if (const auto found = indices_.find(token); found != indices_.end()) return found->second;
  PLIMSOLL_CHECK(c.num_oov_indices > 0, InvalidArgumentError,
                 "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV value {}, "
                 "consider setting `num_oov_indices=1`.",
                 shown(token));
  if constexpr (std::is_same_v<Token, std::int64_t>) {
    const std::int64_t n = c.num_oov_indices;
    return oov_start() + ((token % n) + n) % n;
  }
  return oov_start();
}

template <class C>
Nested LookupLayer<C>::call(const Nested& inputs, const CallArgs&) {
  const C& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  PLIMSOLL_CHECK(!current_trace, UnimplementedError,
                 "layer '{}' looks its inputs up on the host and cannot be part of a function: "
                 "call it on the data before",
                 this->name());
  PLIMSOLL_CHECK(
      c.vocabulary || !tokens_.empty(), FailedPreconditionError,
      "layer '{}' has no vocabulary: call adapt() or set_vocabulary() first. Files in .h5 "
      "by Keras do not hold what a layer has learnt; .keras files do",
      this->name());
  if (c.invert) {
    const std::vector<Token> all = get_vocabulary();
    std::vector<Token> found;
    for (const std::int64_t i : tokens_of<std::int64_t>(x)) {
      const bool is_there = i >= 0 && i < static_cast<std::int64_t>(all.size());
      found.push_back(is_there ? all[static_cast<std::size_t>(i)] : c.oov_token.value_or(Token()));
    }
    return constant(std::span<const Token>(found), x.shape());
  }
  std::vector<std::int64_t> indices;
  for (const Token& token : tokens_of<Token>(x)) indices.push_back(index_of(token));
  const Tensor found = constant(std::span<const std::int64_t>(indices), x.shape());
  if (c.output_mode == "int") return found;
  if (c.output_mode != "tf_idf") return encode_categories(found, c.output_mode, depth(), int64);
  PLIMSOLL_CHECK(!idf_weights_.empty(), FailedPreconditionError,
                 "When `output_mode` is `'tf_idf'`, `idf_weights` must be provided.");
  const auto num = static_cast<std::int64_t>(idf_weights_.size());
  return encode_categories(found, "count", depth(), float32) *
         constant(std::span<const float>(idf_weights_), {num});
}

template <class C>
Nested LookupLayer<C>::compute_output_spec(const Nested& inputs, const CallArgs&) {
  const C& c = this->config_;
  constexpr bool kIsString = std::is_same_v<Token, std::string>;
  PartialShape shape = inputs.leaf().shape();
  if (c.output_mode == "int")
    return KerasTensor(shape, c.invert && kIsString ? DType::kString : DType::kInt64, this->name());
  std::vector<std::int64_t> dims = shape.dims();
  const bool drops = c.output_mode != "one_hot" || (shape.rank() > 1 && shape[-1] == 1);
  if (drops && !dims.empty()) dims.pop_back();
  dims.push_back(depth());
  return KerasTensor(PartialShape(std::move(dims)),
                     c.output_mode == "tf_idf" ? DType::kFloat32 : DType::kInt64, this->name());
}

template class LookupLayer<StringLookupConfig>;
template class LookupLayer<IntegerLookupConfig>;

}  // namespace plimsoll::keras

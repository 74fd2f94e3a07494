// Texts as indices: cleaned, split into words, and looked up.
#include <algorithm>

#include "base/check.h"
#include "plimsoll/keras/layers/lookup.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

bool is_punctuation(char c) {
  return std::string_view("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'").find(c) != std::string_view::npos;
}
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string standardized(const std::string& text, const std::optional<std::string>& how) {
  if (!how) return text;
  std::string made;
  for (char c : text) {
    if (*how != "strip_punctuation" && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (*how == "lower" || !is_punctuation(c)) made += c;
  }
  return made;
}

std::vector<std::string> split_text(const std::string& text,
                                    const std::optional<std::string>& how) {
  if (!how) return {text};
  std::vector<std::string> parts;
  bool begins = true;
  for (const char c : text) {
    if (*how == "character") {
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) parts.emplace_back();  // of UTF-8
      if (parts.empty()) parts.emplace_back();
      parts.back() += c;
    } else if (is_space(c)) {
      begins = true;
    } else {
      if (begins) parts.emplace_back();
      begins = false;
      parts.back() += c;
    }
  }
  return parts;
}

// All of the first width, then all of the next.
std::vector<std::string> joined(const std::vector<std::string>& words,
                                const std::vector<std::int64_t>& widths) {
  std::vector<std::string> made;
  for (const std::int64_t width : widths) {
    const auto num = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i + num <= words.size(); ++i) {
      std::string gram = words[i];
      for (std::size_t k = 1; k < num; ++k) gram += " " + words[i + k];
      made.push_back(std::move(gram));
    }
  }
  return made;
}

bool is_one_of(const std::optional<std::string>& value, std::initializer_list<const char*> names) {
  return !value || std::ranges::any_of(names, [&](const char* name) { return *value == name; });
}

}  // namespace

void TextVectorizationConfig::visit(ConfigVisitor& v) {
  v("max_tokens", max_tokens);
  v("standardize", standardize);
  v("split", split);
  v("ngrams", ngrams);
  v("output_mode", output_mode);
  v("output_sequence_length", output_sequence_length);
  v("pad_to_max_tokens", pad_to_max_tokens);
  v.constant("sparse", false);
  v.constant("ragged", false);
  v("vocabulary", vocabulary);
  v("idf_weights", idf_weights);
  v.constant("encoding", "utf-8");
  v("vocabulary_size", vocabulary_size);
  v.ignore("has_input_vocabulary");
}

TextVectorizationLayer::TextVectorizationLayer(TextVectorizationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(
      is_one_of(config_.standardize, {"lower_and_strip_punctuation", "lower", "strip_punctuation"}),
      InvalidArgumentError,
      "Unknown argument for `standardize` of layer TextVectorization. Expected one of "
      "('lower_and_strip_punctuation', 'lower', 'strip_punctuation'). Received: {}",
      *config_.standardize);
  PLIMSOLL_CHECK(is_one_of(config_.split, {"whitespace", "character"}), InvalidArgumentError,
                 "Unknown argument for `split` of layer TextVectorization. Expected one of "
                 "('whitespace', 'character'). Received: {}",
                 *config_.split);
  PLIMSOLL_CHECK(config_.output_mode == "int" || !config_.output_sequence_length,
                 InvalidArgumentError,
                 "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                 "output_sequence_length={}.",
                 *config_.output_sequence_length);
  lookup_ = std::make_shared<LookupLayer<StringLookupConfig>>(
      StringLookupConfig{.max_tokens = config_.max_tokens,
                         .mask_token = "",
                         .vocabulary = config_.vocabulary,
                         .idf_weights = config_.idf_weights,
                         .output_mode = config_.output_mode,
                         .pad_to_max_tokens = config_.pad_to_max_tokens,
                         .vocabulary_size = config_.vocabulary_size});
  config_.output_mode = lookup_->config().output_mode;
  autocast_ = false;
  set_built(true);
}

Json TextVectorizationLayer::get_config() const {
  Json config = Layer::get_config();
  config["vocabulary_size"] = vocabulary_size();
  return config;
}

// Keras reads it twice.
Assets TextVectorizationLayer::save_assets() const {
  Assets assets = lookup_->save_assets();
  if (const auto found = assets.find("vocabulary.txt"); found != assets.end())
    assets["_lookup_layer/vocabulary.txt"] = found->second;
  return assets;
}

Tensor TextVectorizationLayer::tokens_of(const Tensor& texts) const {
  PLIMSOLL_CHECK(texts.dtype() == DType::kString, InvalidArgumentError,
                 "TextVectorization needs strings. Received: a tensor of {}",
                 dtype_name(texts.dtype()));
  const bool is_column = texts.rank() == 2 && texts.shape()[1] == 1;
  PLIMSOLL_CHECK(texts.rank() <= 1 || is_column || (!config_.split && texts.rank() == 2),
                 InvalidArgumentError,
                 "When using `TextVectorization` to tokenize strings, the input rank must be 1 or "
                 "the last shape dimension must be 1. Received: inputs.shape={} with rank={}",
                 PartialShape(texts.shape()).to_string(), texts.rank());
  std::vector<std::int64_t> widths = config_.ngrams.values();
  if (to_config(config_.ngrams).is_int()) {
    widths.clear();
    for (std::int64_t n = 1; n <= config_.ngrams[0]; ++n) widths.push_back(n);
  }
  const std::size_t rows = texts.rank() == 0 ? 1 : static_cast<std::size_t>(texts.shape()[0]);
  std::vector<std::vector<std::string>> words(rows);
  const std::vector<std::string> all = texts.to_vector<std::string>();
  std::size_t most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& row = words[i * rows / all.size()];
    for (std::string& part : split_text(standardized(all[i], config_.standardize), config_.split))
      row.push_back(std::move(part));
  }
  for (auto& row : words) {
    if (!widths.empty()) row = joined(row, widths);
    most = std::max(most, row.size());
  }
  std::vector<std::string> flat;
  for (auto& row : words) {
    row.resize(most);
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return constant(std::span<const std::string>(flat),
                  {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(most)});
}

void TextVectorizationLayer::adapt(std::span<const Tensor> batches) {
  std::vector<Tensor> tokens;
  for (const Tensor& batch : batches) tokens.push_back(tokens_of(batch));
  lookup_->adapt(tokens);
}

void TextVectorizationLayer::set_vocabulary(const std::vector<std::string>& vocabulary,
                                            const std::optional<std::vector<double>>& idf_weights) {
  lookup_->set_vocabulary(vocabulary, idf_weights);
}
std::vector<std::string> TextVectorizationLayer::get_vocabulary(bool include_special_tokens) const {
  return lookup_->get_vocabulary(include_special_tokens);
}

Nested TextVectorizationLayer::call(const Nested& inputs, const CallArgs& args) {
  PLIMSOLL_CHECK(!current_trace, UnimplementedError,
                 "layer '{}' works on strings, on the host, and cannot be part of a function: call "
                 "it on the data before",
                 name());
  const Tensor found = lookup_->call(tokens_of(inputs), args);
  if (config_.output_mode != "int" || !config_.output_sequence_length) return found;
  const std::int64_t length = *config_.output_sequence_length, most = found.shape()[1];
  if (most >= length) return slice(found, {0, 0}, {-1, length});
  return pad(found, {{0, 0}, {0, length - most}});
}

Nested TextVectorizationLayer::compute_output_spec(const Nested& inputs, const CallArgs& args) {
  const PartialShape shape = inputs.leaf().shape();
  const std::int64_t batch = shape.rank() == 0 ? 1 : shape[0];
  if (config_.output_mode == "int")
    return KerasTensor(PartialShape{batch, config_.output_sequence_length.value_or(kNone)},
                       DType::kInt64, name());
  return lookup_->compute_output_spec(
      KerasTensor(PartialShape{batch, kNone}, DType::kString, name()), args);
}

}  // namespace plimsoll::keras

// Words and numbers as indices of a vocabulary, which is given or learnt. They work on the host,
// where strings are, and not inside a function.
//
//   auto lookup = keras::layers::StringLookup({.vocabulary = {"a", "b"}});
//   lookup(words);                   // 0: not in the vocabulary, 1: "a", 2: "b"
#pragma once

#include <unordered_map>

#include "plimsoll/keras/layers/preprocessing.h"

namespace plimsoll::keras {

struct StringLookupConfig {
  using Token = std::string;
  static constexpr const char* kClassName = "StringLookup";
  std::optional<std::int64_t> max_tokens = {};  // of the vocabulary, with the special ones
  std::int64_t num_oov_indices = 1;             // for what is not in it
  std::optional<std::string> mask_token = {};   // has index 0
  std::optional<std::string> oov_token = "[UNK]";
  std::optional<std::vector<std::string>> vocabulary = {};  // none: adapt or set_vocabulary
  std::optional<std::vector<double>> idf_weights = {};      // with a vocabulary, for tf_idf
  bool invert = false;                                      // indices to tokens
  std::string output_mode = "int";                          // one_hot, multi_hot, count, tf_idf
  bool pad_to_max_tokens = false;
  std::optional<std::int64_t> vocabulary_size = {};  // as Keras notes it
  void visit(ConfigVisitor& v);
};

struct IntegerLookupConfig {
  using Token = std::int64_t;
  static constexpr const char* kClassName = "IntegerLookup";
  std::optional<std::int64_t> max_tokens = {};
  std::int64_t num_oov_indices = 1;
  std::optional<std::int64_t> mask_token = {};
  std::optional<std::int64_t> oov_token = -1;
  std::optional<std::vector<std::int64_t>> vocabulary = {};
  std::optional<std::vector<double>> idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false;
  std::optional<std::int64_t> vocabulary_size = {};
  void visit(ConfigVisitor& v);
};

template <class C>
class LookupLayer : public Configured<AdaptableLayer, C> {
 public:
  using Token = typename C::Token;

  explicit LookupLayer(C config, LayerOptions options = {});
  using AdaptableLayer::adapt;
  // Rows are documents, for tf_idf. throws: FailedPreconditionError for a layer that was given its
  // vocabulary.
  void adapt(std::span<const Tensor> batches) override;
  // With or without the special tokens in front. throws: InvalidArgumentError for repeated tokens,
  // special tokens elsewhere, and more than max_tokens.
  void set_vocabulary(const std::vector<Token>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {});
  std::vector<Token> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_output_spec(const Nested& inputs, const CallArgs& args) override;
  Assets save_assets() const override;
  void load_assets(const Assets& assets) override;

 private:
  std::int64_t oov_start() const;
  std::int64_t token_start() const { return oov_start() + this->config_.num_oov_indices; }
  std::int64_t depth() const;
  std::int64_t index_of(const Token& token) const;
  void set_tokens(std::vector<Token> tokens);

  std::vector<Token> tokens_;  // without the special ones
  std::unordered_map<Token, std::int64_t> indices_;
  std::vector<float> idf_weights_;  // by index
};
extern template class LookupLayer<StringLookupConfig>;
extern template class LookupLayer<IntegerLookupConfig>;

struct TextVectorizationConfig {
  static constexpr const char* kClassName = "TextVectorization";
  std::optional<std::int64_t> max_tokens = {};
  // lower, strip_punctuation; none: as it is.
  std::optional<std::string> standardize = "lower_and_strip_punctuation";
  std::optional<std::string> split = "whitespace";  // character; none: what comes in are tokens
  Sizes ngrams = {};                                // up to so many words, or of these numbers
  std::string output_mode = "int";                  // multi_hot, count, tf_idf
  std::optional<std::int64_t> output_sequence_length = {};  // none: that of the longest text
  bool pad_to_max_tokens = false;
  std::optional<std::vector<std::string>> vocabulary = {};
  std::optional<std::vector<double>> idf_weights = {};
  std::optional<std::int64_t> vocabulary_size = {};  // as Keras notes it
  void visit(ConfigVisitor& v);
};
// Texts [batch] or [batch, 1] as indices of their words. Index 0 is padding, 1 a word that is not
// in the vocabulary.
class TextVectorizationLayer : public Configured<AdaptableLayer, TextVectorizationConfig> {
 public:
  explicit TextVectorizationLayer(TextVectorizationConfig config, LayerOptions options = {});
  using AdaptableLayer::adapt;
  void adapt(std::span<const Tensor> batches) override;
  void set_vocabulary(const std::vector<std::string>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {});
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const { return lookup_->vocabulary_size(); }
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_output_spec(const Nested& inputs, const CallArgs& args) override;
  Json get_config() const override;
  Assets save_assets() const override;
  void load_assets(const Assets& assets) override { lookup_->load_assets(assets); }

 private:
  Tensor tokens_of(const Tensor& texts) const;  // [batch, most], "" behind the last

  std::shared_ptr<LookupLayer<StringLookupConfig>> lookup_;
};

namespace layers {
using TextVectorization = LayerRef<TextVectorizationLayer>;
using StringLookup = LayerRef<LookupLayer<StringLookupConfig>>;
using IntegerLookup = LayerRef<LookupLayer<IntegerLookupConfig>>;
}  // namespace layers

}  // namespace plimsoll::keras

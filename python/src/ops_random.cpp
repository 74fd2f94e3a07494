// Random numbers; prints and checks.
#include <fmt/format.h>

#include "op_table.h"

namespace plimsoll::python {
namespace {

constexpr OpKind kEffect = OpKind::kEffect;

// A list of what is to be printed: tensors, and the text of everything else.
std::vector<Shown> shown(nb::handle values) {
  std::vector<Shown> made;
  for (const nb::handle value : values) {
    Tensor kept;
    if (const Tensor* tensor = tensor_behind(value, kept)) {
      made.emplace_back(*tensor);
    } else {
      made.emplace_back(text_of(value));
    }
  }
  return made;
}

nb::object print_op(nb::handle inputs, nb::handle summarize, nb::handle sep, nb::handle end) {
  const std::vector<Shown> words = shown(inputs);
  const PrintOptions options{.summarize = to_int(summarize, "summarize"),
                             .sep = to_text(sep, "sep"),
                             .end = to_text(end, "end")};
  print(words, options);
  return nb::none();
}

nb::object assert_op(nb::handle condition, nb::handle data, nb::handle summarize) {
  debugging::Assert(to_tensor(condition, bool_), shown(data),
                    summarize.is_none() ? 3 : to_int(summarize, "summarize"));
  return nb::none();
}

template <void (*F)(const Tensor&, const Tensor&, const std::string&, std::int64_t)>
void check_two(const Tensor& x, const Tensor& y, const std::string& message,
               std::optional<std::int64_t> summarize) {
  F(x, y, message, summarize.value_or(3));
}
template <void (*F)(const Tensor&, const std::string&, std::int64_t)>
void check_one(const Tensor& x, const std::string& message, std::optional<std::int64_t> summarize) {
  F(x, message, summarize.value_or(3));
}

template <auto F>
OpRow check(const char* names) {
  if constexpr (requires { check_two<F>; }) {
    return op(names, "x, y, message=None, summarize=None", check_two<F>, "", kEffect);
  } else {
    return op(names, "x, message=None, summarize=None", check_one<F>, "", kEffect);
  }
}

}  // namespace

std::vector<OpRow> random_ops() {
  using namespace plimsoll::random;
  return {
      op("random.uniform", "shape, minval=0, maxval=None, dtype='float32', seed=None", uniform, "",
         kEffect),
      op("random.normal", "shape, mean=0.0, stddev=1.0, dtype='float32', seed=None", normal, "",
         kEffect),
      op("random.truncated_normal", "shape, mean=0.0, stddev=1.0, dtype='float32', seed=None",
         truncated_normal, "", kEffect),
      op("random.shuffle", "value, seed=None", shuffle, "Along the first axis.", kEffect),
      op(
          "random.categorical", "logits, num_samples, dtype=None, seed=None",
          [](const Tensor& logits, std::int64_t num, std::optional<DType> dtype, OpSeed seed) {
            return categorical(logits, num, dtype.value_or(int64), seed);
          },
          "", kEffect),
      op("random.gamma", "shape, alpha, beta=None, dtype='float32', seed=None",
         static_cast<Tensor (*)(const Shape&, const Tensor&, const Tensor&, DType, OpSeed)>(
             random::gamma),
         "", kEffect),
      op("random.poisson", "shape, lam, dtype='float32', seed=None", poisson, "", kEffect),
      op("random.bernoulli", "shape, p=0.5, dtype='float32', seed=None", bernoulli, "", kEffect),
      op("random.set_seed", "seed", set_seed, "Begins all sequences anew.", kEffect),
      op("random.stateless_uniform",
         "shape, seed, minval=0, maxval=None, dtype='float32', name=None, "
         "!alg='auto_select'",
         stateless_uniform),
      op("random.stateless_normal",
         "shape, seed, mean=0.0, stddev=1.0, dtype='float32', name=None, "
         "!alg='auto_select'",
         stateless_normal),
      op("random.stateless_truncated_normal",
         "shape, seed, mean=0.0, stddev=1.0, dtype='float32', name=None, "
         "!alg='auto_select'",
         stateless_truncated_normal),
      op("random.stateless_categorical", "logits, num_samples, seed, dtype='int64'",
         stateless_categorical),
      op("random.stateless_gamma", "shape, seed, alpha, beta=None, dtype='float32'",
         stateless_gamma),
      op("random.stateless_poisson", "shape, seed, lam, dtype='int32'", stateless_poisson),
      op("random.stateless_binomial", "shape, seed, counts, probs, output_dtype='int32'",
         stateless_binomial),
      op("random.experimental.stateless_shuffle", "value, seed, !alg='auto_select'",
         experimental::stateless_shuffle),
      op("nn.experimental.stateless_dropout",
         "x, rate, seed, !rng_alg='auto_select', !noise_shape=None",
         nn::experimental::stateless_dropout),
  };
}

std::vector<OpRow> debugging_ops() {
  using namespace plimsoll::debugging;
  return {
      op("print_list", "inputs, summarize=3, sep=' ', end='\\n'", print_op, "", kEffect),
      op("debugging.Assert Assert", "condition, data, summarize=None", assert_op, "", kEffect),
      check<assert_equal>("debugging.assert_equal assert_equal"),
      op(
          "debugging.assert_none_equal", "x, y, summarize=None, message=None",
          [](const Tensor& x, const Tensor& y, std::optional<std::int64_t> summarize,
             const std::string& message) {
            assert_none_equal(x, y, message, summarize.value_or(3));
          },
          "", kEffect),
      check<assert_less>("debugging.assert_less assert_less"),
      check<assert_less_equal>("debugging.assert_less_equal"),
      check<assert_greater>("debugging.assert_greater assert_greater"),
      check<assert_greater_equal>("debugging.assert_greater_equal"),
      check<assert_positive>("debugging.assert_positive"),
      check<assert_negative>("debugging.assert_negative"),
      check<assert_non_negative>("debugging.assert_non_negative"),
      check<assert_non_positive>("debugging.assert_non_positive"),
      op(
          "debugging.assert_near", "x, y, rtol=None, atol=None, message=None, summarize=None",
          [](const Tensor& x, const Tensor& y, std::optional<double> rtol,
             std::optional<double> atol, const std::string& message,
             std::optional<std::int64_t> summarize) {
            assert_near(x, y, rtol.value_or(-1), atol.value_or(-1), message, summarize.value_or(3));
          },
          "", kEffect),
      op("debugging.check_numerics", "tensor, message", assert_all_finite, "", kEffect),
      op("debugging.assert_all_finite", "x, message", assert_all_finite, "", kEffect),
  };
}

}  // namespace plimsoll::python

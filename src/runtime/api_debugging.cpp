#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

// A text with zeros for tensors, and the tensors: the operands of Print and Assert.
class Words {
 public:
  explicit Words(std::vector<Tensor> before = {}) : in_(std::move(before)), at_(in_.size()) {
    in_.emplace_back();
  }
  void add(std::string_view text) {
    std::ranges::remove_copy(text, std::back_inserter(text_), '\0');
  }
  void show(const Shown& shown) {
    if (!shown.tensor().is_valid()) return add(shown.text());
    if (shown.tensor().dtype() == DType::kString) return add_strings(shown.tensor());
    text_.push_back(0);
    in_.push_back(shown.tensor());
  }
  void call(OpId op, std::int64_t summarize) {
    PLIMSOLL_CHECK(summarize >= -1, InvalidArgumentError,
                   "summarize has to be a number of elements, or -1 for all, got {}", summarize);
    in_[at_] =
        constant(std::span<const std::uint8_t>(text_), {static_cast<std::int64_t>(text_.size())});
    call_all(op, in_, {summarize});
  }

 private:
  // They are on the host, and not in functions: so they are part of the text.
  void add_strings(const Tensor& strings) {
    const auto values = strings.to_vector<std::string>();
    add(strings.shape().rank() ? fmt::format("[\"{}\"]", fmt::join(values, "\" \""))
                               : fmt::format("\"{}\"", values[0]));
  }

  std::vector<Tensor> in_;
  std::size_t at_;  // of the text
  std::vector<std::uint8_t> text_;
};

// "x (shape=(2, 3) dtype=float32) = "
std::string title(const char* name, const Tensor& t) {
  return fmt::format("{} (shape=({}{}) dtype={}) = ", name, fmt::join(t.shape().dims(), ", "),
                     t.shape().rank() == 1 ? "," : "", dtype_name(t.dtype()));
}

}  // namespace

Shown::Shown(double number) : text_(fmt::format("{}", number)) {}

void print(std::span<const Shown> inputs, const PrintOptions& options) {
  Words words;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i) words.add(options.sep);
    words.show(inputs[i]);
  }
  words.add(options.end);
  words.call(OpId::Print, options.summarize);
}

namespace debugging {
namespace {

void assert_pair(const Tensor& holds, const char* relation, const Tensor& x, const Tensor& y,
                 const std::string& message, std::int64_t summarize) {
  std::vector<Shown> data;
  if (!message.empty()) data.emplace_back(message);
  data.emplace_back(fmt::format("Condition x {} y did not hold element-wise:", relation));
  for (const Shown& shown : {Shown(title("x", x)), Shown(x), Shown(title("y", y)), Shown(y)})
    data.push_back(shown);
  Assert(reduce_all(holds), data, summarize);
}

using Compare = Tensor (*)(const Tensor&, const Tensor&);

void assert_sign(Compare compare, const char* relation, const Tensor& x, const std::string& message,
                 std::int64_t summarize) {
  std::vector<Shown> data;
  if (!message.empty()) data.emplace_back(message);
  data.emplace_back(fmt::format("Condition x {} 0 did not hold element-wise:", relation));
  data.emplace_back(title("x", x));
  data.emplace_back(x);
  Assert(reduce_all(compare(x, fill({}, 0, x.dtype()))), data, summarize);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 0x1p-52;
    case DType::kFloat32:
      return 0x1p-23;
    case DType::kFloat16:
      return 0x1p-10;
    case DType::kBFloat16:
      return 0x1p-7;
    default:
      throw InvalidArgumentError(
          fmt::format("assert_near needs floating point numbers, got {}", dtype_name(dtype)));
  }
}

}  // namespace

void Assert(const Tensor& condition, const std::vector<Shown>& data, std::int64_t summarize) {
  Words words({condition});
  words.add("assertion failed:");
  for (const Shown& shown : data) {
    words.add(" [");
    words.show(shown);
    words.add("]");
  }
  words.call(OpId::Assert, summarize);
}

void assert_equal(const Tensor& x, const Tensor& y, const std::string& message,
                  std::int64_t summarize) {
  assert_pair(equal(x, y), "==", x, y, message, summarize);
}
void assert_none_equal(const Tensor& x, const Tensor& y, const std::string& message,
                       std::int64_t summarize) {
  assert_pair(not_equal(x, y), "!=", x, y, message, summarize);
}
void assert_less(const Tensor& x, const Tensor& y, const std::string& message,
                 std::int64_t summarize) {
  assert_pair(less(x, y), "<", x, y, message, summarize);
}
void assert_less_equal(const Tensor& x, const Tensor& y, const std::string& message,
                       std::int64_t summarize) {
  assert_pair(less_equal(x, y), "<=", x, y, message, summarize);
}
void assert_greater(const Tensor& x, const Tensor& y, const std::string& message,
                    std::int64_t summarize) {
  assert_pair(greater(x, y), ">", x, y, message, summarize);
}
void assert_greater_equal(const Tensor& x, const Tensor& y, const std::string& message,
                          std::int64_t summarize) {
  assert_pair(greater_equal(x, y), ">=", x, y, message, summarize);
}

void assert_positive(const Tensor& x, const std::string& message, std::int64_t summarize) {
  assert_sign(greater, ">", x, message, summarize);
}
void assert_negative(const Tensor& x, const std::string& message, std::int64_t summarize) {
  assert_sign(less, "<", x, message, summarize);
}
void assert_non_negative(const Tensor& x, const std::string& message, std::int64_t summarize) {
  assert_sign(greater_equal, ">=", x, message, summarize);
}
void assert_non_positive(const Tensor& x, const std::string& message, std::int64_t summarize) {
  assert_sign(less_equal, "<=", x, message, summarize);
}

void assert_near(const Tensor& x, const Tensor& y, double rtol, double atol,
                 const std::string& message, std::int64_t summarize) {
  const double small = 10 * epsilon_of(x.dtype());
  if (rtol < 0) rtol = small;
  if (atol < 0) atol = small;
  std::vector<Shown> data;
  if (!message.empty()) data.emplace_back(message);
  data.emplace_back(
      fmt::format("x and y not equal to tolerance rtol = {:g}, atol = {:g}", rtol, atol));
  for (const Shown& shown : {Shown(title("x", x)), Shown(x), Shown(title("y", y)), Shown(y)})
    data.push_back(shown);
  Assert(reduce_all(less(abs(x - y), abs(y) * rtol + atol)), data, summarize);
}

Tensor assert_all_finite(const Tensor& x, const std::string& message) {
  const Tensor has_nan = reduce_any(math::is_nan(x)), has_inf = reduce_any(math::is_inf(x));
  const auto refuse = [&](const Tensor& found, const char* what) {
    Words words({logical_not(found)});
    words.add(fmt::format("{} : Tensor had {} values", message, what));
    words.call(OpId::Assert, 0);
  };
  refuse(logical_and(has_nan, has_inf), "Inf and NaN");
  refuse(has_nan, "NaN");
  refuse(has_inf, "Inf");
  return x;
}

}  // namespace debugging
}  // namespace plimsoll

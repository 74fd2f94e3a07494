// Printing and checking values. In a function both happen in every run, in the order of the body,
// and a run that an assert ends leaves all variables as they were.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

// A word, a number or a tensor that is shown.
class Shown {
 public:
  Shown(std::string text) : text_(std::move(text)) {}
  Shown(const char* text) : text_(text) {}
  Shown(bool value) : text_(value ? "True" : "False") {}
  template <class T>
  requires std::is_integral_v<T> Shown(T number) : text_(std::to_string(number)) {}
  Shown(double number);
  template <class T>
  requires std::is_convertible_v<const T&, const Tensor&> Shown(const T& tensor)
      : tensor_(static_cast<const Tensor&>(tensor)) {}

  const std::string& text() const noexcept { return text_; }
  const Tensor& tensor() const noexcept { return tensor_; }  // empty: it is a text

 private:
  std::string text_;
  Tensor tensor_;
};

struct PrintOptions {
  std::int64_t summarize = 3;  // elements at either end of each dimension; -1: all
  std::string sep = " ", end = "\n";
};

// Writes to stderr: print("loss:", loss). throws: InvalidArgumentError.
void print(std::span<const Shown> inputs, const PrintOptions& options = {});
inline void print(std::initializer_list<Shown> inputs, const PrintOptions& options = {}) {
  print(std::span(inputs.begin(), inputs.size()), options);
}
template <class... T>
requires(std::is_constructible_v<Shown, const T&>&&...) void print(const T&... inputs) {
  print({Shown(inputs)...});
}

// All throw InvalidArgumentError with the message and the values unless it holds for every element.
// `summarize` elements are shown, all if it is -1; the error has room for 1000 letters.
namespace debugging {

// condition: a scalar of type bool.
void Assert(const Tensor& condition, const std::vector<Shown>& data, std::int64_t summarize = 3);

void assert_equal(const Tensor& x, const Tensor& y, const std::string& message = "",
                  std::int64_t summarize = 3);
void assert_none_equal(const Tensor& x, const Tensor& y, const std::string& message = "",
                       std::int64_t summarize = 3);
void assert_less(const Tensor& x, const Tensor& y, const std::string& message = "",
                 std::int64_t summarize = 3);
void assert_less_equal(const Tensor& x, const Tensor& y, const std::string& message = "",
                       std::int64_t summarize = 3);
void assert_greater(const Tensor& x, const Tensor& y, const std::string& message = "",
                    std::int64_t summarize = 3);
void assert_greater_equal(const Tensor& x, const Tensor& y, const std::string& message = "",
                          std::int64_t summarize = 3);

void assert_positive(const Tensor& x, const std::string& message = "", std::int64_t summarize = 3);
void assert_negative(const Tensor& x, const std::string& message = "", std::int64_t summarize = 3);
void assert_non_negative(const Tensor& x, const std::string& message = "",
                         std::int64_t summarize = 3);
void assert_non_positive(const Tensor& x, const std::string& message = "",
                         std::int64_t summarize = 3);

// |x - y| < atol + rtol * |y|; a negative tolerance stands for ten times the type's epsilon.
void assert_near(const Tensor& x, const Tensor& y, double rtol = -1, double atol = -1,
                 const std::string& message = "", std::int64_t summarize = 3);
// Neither infinite nor nan. Returns x.
Tensor assert_all_finite(const Tensor& x, const std::string& message);

}  // namespace debugging
}  // namespace plimsoll

// Tensors as TensorFlow prints them.
#include <fmt/format.h>

#include <cmath>

#include "plimsoll/tensor.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kEdge = 3;              // elements shown at either end of a long dimension
constexpr std::int64_t kSummarizeFrom = 1000;  // elements from which dimensions are cut

// Elements as text, padded to one width, as numpy shows them.
std::vector<std::string> element_texts(const Tensor& t) {
  std::vector<std::string> texts;
  const auto add_floats = [&](const auto& values) {
    for (const auto value : values) {
      const auto v = static_cast<double>(value);
      if (!std::isfinite(v)) {
        texts.push_back(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        continue;
      }
      std::string text = fmt::format(
          "{}", t.dtype() == DType::kFloat64 ? v : static_cast<double>(0) + static_cast<float>(v));
      if (t.dtype() != DType::kFloat64) text = fmt::format("{}", static_cast<float>(v));
      if (text.find_first_of(".en") == std::string::npos) text += ".";
      if (text.size() > 2 && text.ends_with(".0")) text.pop_back();
      texts.push_back(text);
    }
  };
  const auto add_ints = [&](const auto& values) {
    for (const auto value : values) texts.push_back(std::to_string(value));
  };
  switch (t.dtype()) {
    case DType::kFloat32:
      add_floats(t.to_vector<float>());
      break;
    case DType::kFloat64:
      add_floats(t.to_vector<double>());
      break;
    case DType::kFloat16:
      add_floats(t.to_vector<Half>());
      break;
    case DType::kBFloat16:
      add_floats(t.to_vector<BFloat16>());
      break;
    case DType::kInt8:
      add_ints(t.to_vector<std::int8_t>());
      break;
    case DType::kUInt8:
      add_ints(t.to_vector<std::uint8_t>());
      break;
    case DType::kInt16:
      add_ints(t.to_vector<std::int16_t>());
      break;
    case DType::kUInt16:
      add_ints(t.to_vector<std::uint16_t>());
      break;
    case DType::kInt32:
      add_ints(t.to_vector<std::int32_t>());
      break;
    case DType::kInt64:
      add_ints(t.to_vector<std::int64_t>());
      break;
    case DType::kBool:
      for (const bool value : t.to_vector<bool>()) texts.emplace_back(value ? "True" : "False");
      break;
    case DType::kString:
      for (const std::string& value : t.to_vector<std::string>())
        texts.push_back("b'" + value + "'");
      break;
  }
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) {
    if (t.rank() > 0) text.insert(0, width - text.size(), ' ');
  }
  return texts;
}

void print_level(const Shape& shape, const std::vector<std::string>& texts, int axis,
                 std::int64_t& at, std::string& out) {
  if (axis == shape.rank()) {
    out += texts[static_cast<std::size_t>(at++)];
    return;
  }
  std::int64_t below = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) below *= shape.dim(i);
  out += "[";
  const std::int64_t n = shape.dim(axis);
  const bool is_cut = shape.num_elements() > kSummarizeFrom && n > 2 * kEdge;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) {
      out += axis + 1 == shape.rank()
                 ? " "
                 : std::string(static_cast<std::size_t>(shape.rank() - axis - 1), '\n') +
                       std::string(static_cast<std::size_t>(axis + 1), ' ');
    }
    if (is_cut && i == kEdge) {
      out += "...";
      at += (n - 2 * kEdge) * below;
      i = n - kEdge - 1;
      continue;
    }
    print_level(shape, texts, axis + 1, at, out);
  }
  out += "]";
}

}  // namespace

std::string Tensor::to_string() const {
  if (!is_valid()) return "<empty Tensor>";
  std::string values;
  std::int64_t at = 0;
  print_level(shape(), element_texts(*this), 0, at, values);
  std::string dims;
  for (int i = 0; i < rank(); ++i) dims += (i ? ", " : "") + std::to_string(shape().dim(i));
  if (rank() == 1) dims += ",";
  return fmt::format("tf.Tensor({}, shape=({}), dtype={})", values, dims, dtype_name(dtype()));
}

}  // namespace plimsoll

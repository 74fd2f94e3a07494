#include "runtime/einsum_equation.h"

#include "base/check.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::einsum_detail {

Equation::Equation(std::string_view equation, std::span<const Tensor> inputs) : text_(equation) {
  std::string dense;
  for (const char c : equation) {
    if (c != ' ') dense.push_back(c);
  }
  const std::size_t arrow = dense.find("->");
  const std::string left = dense.substr(0, arrow);
  const auto commas = static_cast<std::size_t>(std::count(left.begin(), left.end(), ','));
  PLIMSOLL_CHECK(inputs.size() == commas + 1, InvalidArgumentError,
                 "Got {} inputs for equation \"{}\", expecting {}", inputs.size(), text_,
                 commas + 1);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    add_operand(left.substr(begin, end - begin), inputs[i], i);
    begin = end + 1;
  }
  if (arrow == std::string::npos) {
    set_implicit_output();
  } else {
    out = parse(dense.substr(arrow + 2), num_broadcast_);
    for (const int label : out) {
      PLIMSOLL_CHECK(
          sizes.count(label), InvalidArgumentError,
          "Output subscripts contain the label {} not present in the input subscripts: \"{}\"",
          static_cast<char>(label), text_);
    }
  }
  drop_ones();
}

Labels Equation::parse(const std::string& part, int num_broadcast) const {
  Labels labels;
  bool has_ellipsis = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    if (c == '.') {
      PLIMSOLL_CHECK(!has_ellipsis && part.substr(i, 3) == "...", InvalidArgumentError,
                     "Subscripts contain more than one ellipsis, or not three dots: \"{}\"", text_);
      for (int k = num_broadcast; k > 0; --k) labels.push_back(kEllipsis - (k - 1));
      has_ellipsis = true;
      i += 2;
      continue;
    }
    PLIMSOLL_CHECK((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), InvalidArgumentError,
                   "Subscripts must be letters or an ellipsis, got '{}' in \"{}\"", c, text_);
    labels.push_back(c);
  }
  return labels;
}

void Equation::add_operand(const std::string& part, const Tensor& tensor, std::size_t index) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "einsum got an empty Tensor");
  const bool has_ellipsis = part.find('.') != std::string::npos;
  const int named = static_cast<int>(parse(part, 0).size());
  const int rest = tensor.rank() - named;
  PLIMSOLL_CHECK(has_ellipsis ? rest >= 0 : rest == 0, InvalidArgumentError,
                 "Expected input {} to have rank {}{} but got: {} with shape {}, in \"{}\"", index,
                 has_ellipsis ? "at least " : "", named, tensor.rank(), tensor.shape().to_string(),
                 text_);
  Operand made{tensor, parse(part, rest)};
  num_broadcast_ = std::max(num_broadcast_, rest);
  for (int i = 0; i < tensor.rank(); ++i) {
    const int label = made.labels[static_cast<std::size_t>(i)];
    const std::int64_t size = tensor.shape()[i];
    const auto [known, is_new] = sizes.emplace(label, size);
    if (is_new || known->second == size) continue;
    const bool broadcasts = label <= kEllipsis && (size == 1 || known->second == 1);
    PLIMSOLL_CHECK(broadcasts, InvalidArgumentError,
                   "Expected dimension {} at axis {} of the input shaped {} but got dimension "
                   "{}, in \"{}\"",
                   known->second, i, tensor.shape().to_string(), size, text_);
    if (known->second == 1) known->second = size;
  }
  operands.push_back(std::move(made));
}

void Equation::set_implicit_output() {
  for (const auto& [label, size] : sizes) {  // dimensions behind "..." come first
    std::ptrdiff_t uses = 0;
    for (const Operand& o : operands) uses += std::count(o.labels.begin(), o.labels.end(), label);
    if (label <= kEllipsis || uses == 1) out.push_back(label);
  }
}

void Equation::drop_ones() {
  for (Operand& o : operands) {
    Axes ones;
    Labels kept;
    for (int i = 0; i < o.tensor.rank(); ++i) {
      const int label = o.labels[static_cast<std::size_t>(i)];
      if (label <= kEllipsis && o.tensor.shape()[i] == 1 && sizes[label] != 1) {
        ones.push_back(i);
      } else {
        kept.push_back(label);
      }
    }
    if (!ones.empty()) o = {squeeze(o.tensor, ones), kept};
  }
}

}  // namespace plimsoll::einsum_detail

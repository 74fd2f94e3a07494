#include "runtime/string_ops.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "plimsoll/interop.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/string_builder.h"

namespace plimsoll {
namespace {

bool is_move(OpId op) noexcept {
  switch (op) {
    case OpId::BroadcastTo:
    case OpId::Concat:
    case OpId::Gather:
    case OpId::GatherNd:
    case OpId::Reverse:
    case OpId::Roll:
    case OpId::Select:
    case OpId::Split:
    case OpId::TensorScatterUpdate:
    case OpId::Tile:
    case OpId::Transpose:
      return true;
    default:
      return false;
  }
}

Tensor allocate(DType dtype, const Shape& shape) {
  static const memory::Owner owner(memory::Tag::kActivations, "strings");
  return allocate_tensor(Context::get().cpu(), dtype, shape, owner);
}
template <class T>
std::span<T> fresh_values(const Tensor& made) {  // pre: nobody else has seen it
  return {static_cast<T*>(const_cast<void*>(interop::host_data(made))),
          static_cast<std::size_t>(made.num_elements())};
}
std::span<const std::int64_t> values_of(const Tensor& numbers) {
  return fresh_values<const std::int64_t>(numbers);
}

// first, first + 1, ..., in the shape of the strings.
Tensor number(const Tensor& strings, std::int64_t first) {
  Tensor made = allocate(int64, strings.shape());
  const std::span<std::int64_t> values = fresh_values<std::int64_t>(made);
  std::iota(values.begin(), values.end(), first);
  return made;
}

// Strings of several tensors, numbered from the first to the last.
class Numbered {
 public:
  explicit Numbered(OpId op) : op_(op_name(op)) {}
  Tensor add(const Tensor& strings) {
    const std::int64_t first = starts_.empty() ? 0 : starts_.back() + last_size();
    parts_.push_back(strings_of(strings, op_));
    starts_.push_back(first);
    return number(strings, first);
  }
  const std::string& operator[](std::int64_t at) const noexcept {
    const auto part = std::ranges::upper_bound(starts_, at) - starts_.begin() - 1;
    const auto k = static_cast<std::size_t>(part);
    return parts_[k][static_cast<std::size_t>(at - starts_[k])];
  }

 private:
  std::int64_t last_size() const noexcept {
    return static_cast<std::int64_t>(parts_.back().size());
  }

  const std::string_view op_;
  std::vector<std::span<const std::string>> parts_;
  std::vector<std::int64_t> starts_;
};

void move_strings(OpId op, std::span<const Tensor> in, const Attrs& attrs, std::span<Tensor> out) {
  Numbered texts(op);
  std::vector<Tensor> numbers(in.begin(), in.end());
  for (Tensor& t : numbers) {
    if (t.dtype() == DType::kString) t = texts.add(t);
  }
  std::vector<Tensor> moved = call_all(op, numbers, attrs);
  numbers.clear();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Tensor at = interop::on_host(moved[i]);
    moved[i] = Tensor();
    const std::span<const std::int64_t> values = values_of(at);
    std::uint64_t nbytes = 0;
    for (const std::int64_t k : values) nbytes += texts[k].size();
    StringBuilder made(values.size(), memory::Owner(memory::Tag::kActivations, op_name(op)),
                       nbytes);
    for (const std::int64_t k : values) made.add_copy(texts[k]);
    out[i] = made.finish(at.shape());
  }
}

// Strings as if they had another shape.
class Spread {
 public:
  Spread(OpId op, const Tensor& strings, const Shape& shape)
      : texts_(strings_of(strings, op_name(op))),
        at_(interop::on_host(
            call(OpId::BroadcastTo, {number(strings, 0)}, {AttrValue(shape.dims())}))) {}
  const std::string& operator[](std::size_t i) const noexcept {
    return texts_[static_cast<std::size_t>(values_of(at_)[i])];
  }

 private:
  const std::span<const std::string> texts_;
  const Tensor at_;
};

Tensor compare_strings(OpId op, const Tensor& x, const Tensor& y, const Shape& shape) {
  const Spread xs(op, x, shape), ys(op, y, shape);
  Tensor made = allocate(bool_, shape);
  const std::span<bool> results = fresh_values<bool>(made);
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = (xs[i] == ys[i]) == (op == OpId::Equal);
  return made;
}

Tensor join_strings(OpId op, const Tensor& x, const Tensor& y, const Shape& shape) {
  const Spread xs(op, x, shape), ys(op, y, shape);
  const auto count = static_cast<std::size_t>(shape.num_elements());
  std::uint64_t nbytes = 0;
  for (std::size_t i = 0; i < count; ++i) nbytes += xs[i].size() + ys[i].size();
  StringBuilder made(count, memory::Owner(memory::Tag::kActivations, op_name(op)), nbytes);
  for (std::size_t i = 0; i < count; ++i) made.add(xs[i] + ys[i]);
  return made.finish(shape);
}

}  // namespace

bool is_op_of_strings(OpId op) noexcept {
  return is_move(op) || op == OpId::Equal || op == OpId::NotEqual || op == OpId::Add;
}

void call_on_strings(OpId op, std::span<const Tensor> in, const Attrs& attrs,
                     std::span<const TensorSpec> specs, std::span<Tensor> out) {
  if (is_move(op)) return move_strings(op, in, attrs, out);
  const auto& apply = op == OpId::Add ? join_strings : compare_strings;
  out[0] = apply(op, in[0], in[1], specs[0].shape);
}

}  // namespace plimsoll

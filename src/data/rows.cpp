// Taking rows out of tensors.
#include <algorithm>

#include "base/check.h"
#include "data/node.h"
#include "plimsoll/ops.h"
#include "runtime/budget_scope.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "runtime/string_builder.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::data {

const memory::Owner& batch_owner() {
  static const memory::Owner owner(memory::Tag::kDataset, "batch");
  return owner;
}

namespace {

Shape shape_of_rows(const Tensor& t, std::size_t num) {
  std::vector<std::int64_t> dims(t.shape().dims().begin(), t.shape().dims().end());
  dims[0] = static_cast<std::int64_t>(num);
  return Shape(dims);
}

std::uint64_t sum_of_bytes(std::span<const std::string> words) {
  std::uint64_t sum = 0;
  for (const std::string& word : words) sum += word.size();
  return sum;
}

Tensor gather_strings(const Tensor& t, std::span<const std::int64_t> rows) {
  const std::span<const std::string> all = strings_of(t, "batch");
  const std::size_t width = t.shape()[0] ? all.size() / static_cast<std::size_t>(t.shape()[0]) : 0;
  const auto words_of = [&](std::int64_t row) {
    return all.subspan(static_cast<std::size_t>(row) * width, width);
  };
  std::uint64_t nbytes = 0;
  for (const std::int64_t row : rows) nbytes += sum_of_bytes(words_of(row));
  StringBuilder words(rows.size() * width, batch_owner(), nbytes);
  for (const std::int64_t row : rows) {
    for (const std::string& word : words_of(row)) words.add_copy(word);
  }
  return words.finish(shape_of_rows(t, rows.size()));
}

// pre: both on the host.
void convert_row(memory::Address to, memory::Address from, std::size_t num) {
  const auto* doubles = reinterpret_cast<const double*>(from);
  auto* floats = reinterpret_cast<float*>(to);
  for (std::size_t i = 0; i < num; ++i) floats[i] = static_cast<float>(doubles[i]);
}

Tensor gather_one(const Tensor& t, DType dtype, std::span<const std::int64_t> rows, Tensor reused) {
  if (t.dtype() == DType::kString) return gather_strings(t, rows);
  Device& device = *owner_of(t);  // batches are made where the rows are
  const Shape shape = shape_of_rows(t, rows.size());
  const bool is_free = reused.is_valid() && reused.shape() == shape && reused.dtype() == dtype &&
                       is_sole_handle(reused);
  if (!is_free) reused = Tensor();  // its memory goes before more is taken
  // A tensor of its own: who knew the old one by its identity does not take this one for it.
  Tensor made = is_free ? make_tensor(dtype, shape, reused.impl()->buffer)
                        : allocate_tensor(device, dtype, shape, batch_owner());
  const std::size_t width = t.shape()[0] ? static_cast<std::size_t>(t.nbytes() / t.shape()[0]) : 0;
  memory::Address to = address_of(made);
  const memory::Address from = address_of(t);
  for (const std::int64_t row : rows) {
    const memory::Address row_at = from + static_cast<std::size_t>(row) * width;
    if (dtype == t.dtype()) {
      device.move(to, row_at, width);
      to += width;
    } else {
      convert_row(to, row_at, width / sizeof(double));
      to += width / 2;
    }
  }
  return made;
}

Tensor row_of(const Tensor& t, std::int64_t row) {
  const Shape shape(t.shape().dims().subspan(1));
  if (t.dtype() == DType::kString)
    return reshape(gather_strings(t, std::span(&row, 1)), shape.dims());
  Device& device = *owner_of(t);
  const Tensor made = allocate_tensor(device, t.dtype(), shape, batch_owner());
  const auto width = static_cast<std::size_t>(made.nbytes());
  device.move(address_of(made), address_of(t) + static_cast<std::size_t>(row) * width, width);
  return made;
}

std::uint64_t longest(const std::vector<std::string>& strings) {
  std::uint64_t most = 0;
  for (const std::string& text : strings) most = std::max<std::uint64_t>(most, text.size());
  return most;
}

Shape shape_of_stack(std::span<const Tensor> rows) {
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(rows.size())};
  dims.insert(dims.end(), rows[0].shape().dims().begin(), rows[0].shape().dims().end());
  return Shape(dims);
}

Tensor stack_strings(std::span<const Tensor> rows) {
  const Shape shape = shape_of_stack(rows);
  std::uint64_t nbytes = 0;
  for (const Tensor& t : rows) nbytes += sum_of_bytes(strings_of(t, "batch"));
  StringBuilder words(static_cast<std::size_t>(shape.num_elements()), batch_owner(), nbytes);
  for (const Tensor& t : rows) {
    for (const std::string& word : strings_of(t, "batch")) words.add_copy(word);
  }
  return words.finish(shape);
}

class ElementRun : public Iterator {
 public:
  explicit ElementRun(NodePtr node) : node_(std::move(node)), rows_(node_->iterate_rows()) {}
  std::optional<Element> next() override {
    if (!row_) row_ = rows_->next();
    if (!row_) return std::nullopt;
    Element one = node_->rows()->tensors.map([&](const Tensor& t) { return row_of(t, *row_); });
    row_.reset();  // not before: without memory for it it waits for another try
    return one;
  }

 private:
  const NodePtr node_;
  const std::unique_ptr<RowIterator> rows_;
  std::optional<std::int64_t> row_;
};

}  // namespace

Tensor stack_rows(std::span<const Tensor> rows) {
  if (rows[0].dtype() == DType::kString) return stack_strings(rows);
  Device& device = *owner_of(rows[0]);
  for (const Tensor& t : rows) {
    if (owner_of(t) != &device) return stack(std::vector<Tensor>(rows.begin(), rows.end()));
  }
  const Tensor made = allocate_tensor(device, rows[0].dtype(), shape_of_stack(rows), batch_owner());
  const auto width = static_cast<std::size_t>(rows[0].nbytes());
  memory::Address to = address_of(made);
  for (const Tensor& t : rows) {
    device.move(to, address_of(t), width);
    to += width;
  }
  return made;
}

std::unique_ptr<Iterator> iterate_elements(NodePtr node) {
  return std::make_unique<ElementRun>(std::move(node));
}

Element gather_rows(const RowSource& source, std::span<const std::int64_t> rows, Element reused) {
  std::vector<Tensor> old = reused.flatten();
  reused = Element();
  std::size_t i = 0;
  return source.tensors.map([&](const Tensor& t) {
    Tensor mine = i < old.size() ? std::move(old[i]) : Tensor();
    ++i;
    return gather_one(t, source.dtype_of(t), rows, std::move(mine));
  });
}

Element stack_elements(std::span<const Element> elements) {
  std::vector<std::vector<Tensor>> parts;  // by leaf
  for (const Element& element : elements) {
    const std::vector<Tensor> leaves = element.flatten();
    if (parts.empty()) parts.resize(leaves.size());
    PLIMSOLL_CHECK(leaves.size() == parts.size(), InvalidArgumentError,
                   "Cannot batch elements of {} and of {} tensors", parts.size(), leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      PLIMSOLL_CHECK(
          parts[i].empty() || (parts[i][0].shape() == leaves[i].shape() &&
                               parts[i][0].dtype() == leaves[i].dtype()),
          InvalidArgumentError,
          "Cannot batch tensors with different shapes in component {}. First element had "
          "shape {} and element {} had shape {}.",
          i, parts[i][0].shape().to_string(), parts[i].size(), leaves[i].shape().to_string());
      parts[i].push_back(leaves[i]);
    }
  }
  std::size_t i = 0;
  return elements[0].map([&](const Tensor&) { return stack_rows(parts[i++]); });
}

std::uint64_t bytes_of(const Element& element) {
  std::uint64_t sum = 0;
  element.for_each([&](const Tensor& t) {
    sum += t.dtype() == DType::kString ? t.impl()->buffer->claim.nbytes()
                                       : rounded_up(static_cast<std::uint64_t>(t.nbytes()));
  });
  return sum;
}
std::uint64_t bytes_of_rows(const RowSource& source, std::int64_t num_rows) {
  std::uint64_t sum = 0;
  source.tensors.for_each([&](const Tensor& t) {
    if (t.shape()[0] == 0) return;
    const std::int64_t width = t.num_elements() / t.shape()[0];
    std::uint64_t size = static_cast<std::uint64_t>(dtype_size(source.dtype_of(t)));
    if (t.dtype() == DType::kString) size += longest(t.impl()->buffer->strings);
    sum += rounded_up(static_cast<std::uint64_t>(num_rows * width) * size);
  });
  return sum;
}

std::uint64_t free_bytes() {
  return host_budget().available();
}

struct RowNumbers::Booked {
  memory::Reservation claim;
};
RowNumbers::RowNumbers(std::size_t capacity)
    : booked_(std::make_unique<Booked>(Booked{host_budget().reserve(
          capacity * sizeof(std::int64_t), memory::Owner(memory::Tag::kDataset, "shuffle"))})) {
  values.reserve(capacity);
}
RowNumbers::~RowNumbers() = default;

}  // namespace plimsoll::data

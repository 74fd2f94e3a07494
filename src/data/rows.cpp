// Taking rows out of tensors.
#include <cstring>
#include <unordered_map>

#include "base/check.h"
#include "data/node.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::data {
namespace {

const memory::Owner& batch_owner() {
  static const memory::Owner owner(memory::Tag::kDataset, "batch");
  return owner;
}

Shape shape_of_rows(const Tensor& t, std::size_t num) {
  std::vector<std::int64_t> dims(t.shape().dims().begin(), t.shape().dims().end());
  dims[0] = static_cast<std::int64_t>(num);
  return Shape(dims);
}

const std::uint8_t* host_bytes(const Tensor& t) {
  return static_cast<const std::uint8_t*>(t.impl()->buffer->block.data()) + t.impl()->offset;
}

Tensor gather_strings(const Tensor& t, std::span<const std::int64_t> rows) {
  const std::vector<std::string>& all = t.impl()->buffer->strings;
  const std::size_t width = t.shape()[0] ? all.size() / static_cast<std::size_t>(t.shape()[0]) : 0;
  std::vector<std::string> words;
  words.reserve(rows.size() * width);
  for (const std::int64_t row : rows) {
    const auto first = all.begin() + row * static_cast<std::ptrdiff_t>(width);
    words.insert(words.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return constant(std::span<const std::string>(words), shape_of_rows(t, rows.size()));
}

Tensor gather_one(const Tensor& t, std::span<const std::int64_t> rows, Tensor reused) {
  if (t.dtype() == DType::kString) return gather_strings(t, rows);
  Device& cpu = Context::get().cpu();
  if (owner_of(t) != &cpu)
    return gather(t, constant(rows, {static_cast<std::int64_t>(rows.size())}), 0);
  const Shape shape = shape_of_rows(t, rows.size());
  const bool is_free = reused.is_valid() && reused.shape() == shape &&
                       reused.dtype() == t.dtype() && is_sole_handle(reused);
  if (!is_free) reused = Tensor();  // its memory goes before more is taken
  // A tensor of its own: who knew the old one by its identity does not take this one for it.
  Tensor made = is_free ? make_tensor(t.dtype(), shape, reused.impl()->buffer)
                        : allocate_tensor(cpu, t.dtype(), shape, batch_owner());
  const std::size_t width = t.shape()[0] ? static_cast<std::size_t>(t.nbytes() / t.shape()[0]) : 0;
  auto* to = static_cast<std::uint8_t*>(made.impl()->buffer->block.data());
  const std::uint8_t* from = host_bytes(t);
  for (const std::int64_t row : rows) {
    std::memcpy(to, from + static_cast<std::size_t>(row) * width, width);
    to += width;
  }
  return made;
}

class ElementRun : public Iterator {
 public:
  explicit ElementRun(NodePtr node) : node_(std::move(node)), rows_(node_->iterate_rows()) {}
  std::optional<Element> next() override {
    const std::optional<std::int64_t> row = rows_->next();
    if (!row) return std::nullopt;
    const Element one = gather_rows(*node_->rows(), std::span(&*row, 1), {});
    return one.map([](const Tensor& t) { return squeeze(t, {0}); });
  }

 private:
  const NodePtr node_;
  const std::unique_ptr<RowIterator> rows_;
};

}  // namespace

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
    return gather_one(t, rows, std::move(mine));
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
  return elements[0].map([&](const Tensor&) {
    const std::vector<Tensor>& rows = parts[i++];
    return stack(rows);
  });
}

struct RowNumbers::Booked {
  memory::Reservation claim;
};
RowNumbers::RowNumbers(std::size_t capacity)
    : booked_(std::make_unique<Booked>(Booked{Context::get().cpu().budget().reserve(
          capacity * sizeof(std::int64_t), memory::Owner(memory::Tag::kDataset, "shuffle"))})) {
  values.reserve(capacity);
}
RowNumbers::~RowNumbers() = default;

}  // namespace plimsoll::data

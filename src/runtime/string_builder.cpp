#include "runtime/string_builder.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/budget_scope.h"
#include "runtime/call_site.h"
#include "runtime/context.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

constexpr std::uint64_t kManyStrings = std::uint64_t{1} << 57;  // which no budget has room for

}  // namespace

std::span<const std::string> strings_of(const Tensor& tensor, std::string_view op) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "{} of an empty Tensor", op);
  PLIMSOLL_CHECK(tensor.dtype() == DType::kString, InvalidArgumentError,
                 "cannot compute {} as input #0(zero-based) was expected to be a string tensor but "
                 "is a {} tensor [Op:{}]",
                 op, dtype_word(tensor.dtype()), op);
  const TensorImpl* impl = tensor.impl();
  PLIMSOLL_CHECK(impl->buffer, UnimplementedError,
                 "{}: strings are no part of functions that are traced", op);
  return std::span<const std::string>(impl->buffer->strings)
      .subspan(impl->offset, static_cast<std::size_t>(tensor.num_elements()));
}

StringBuilder::StringBuilder(std::size_t num, memory::Owner owner, std::uint64_t nbytes)
    : nbytes_(num < kManyStrings ? num * sizeof(std::string) : ~std::uint64_t{0}),
      owner_(TagScope::retagged(owner)),
      claim_(host_budget().reserve(nbytes_ + std::min(nbytes, ~nbytes_), owner_)) {
  texts_.reserve(num);
}

void StringBuilder::make_room(std::size_t nbytes) {
  const std::uint64_t needed = nbytes_ + nbytes;
  if (needed <= claim_.nbytes()) return;
  // reserve throws and says why, unless others gave something back meanwhile.
  while (!claim_.try_resize(needed)) host_budget().reserve(needed - claim_.nbytes(), owner_);
}

void StringBuilder::add(std::string text) {
  make_room(text.size());
  nbytes_ += text.size();
  texts_.push_back(std::move(text));
}

void StringBuilder::add_copy(std::string_view text) {
  make_room(text.size());
  add(std::string(text));
}

Tensor StringBuilder::finish(const Shape& shape) {
  PLIMSOLL_CHECK(static_cast<std::int64_t>(texts_.size()) == shape.num_elements(),
                 InvalidArgumentError, "constant of shape {} needs {} values, got {}",
                 shape.to_string(), shape.num_elements(), texts_.size());
  claim_.try_resize(nbytes_);  // never more than it has
  BufferRef buffer(new Buffer);
  buffer->claim = std::move(claim_);
  buffer->device = &Context::get().cpu();
  buffer->strings = std::move(texts_);
  return make_tensor(DType::kString, shape, std::move(buffer));
}

}  // namespace plimsoll

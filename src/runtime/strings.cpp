#include "runtime/strings.h"

#include "base/check.h"
#include "runtime/budget_scope.h"
#include "runtime/call_site.h"
#include "runtime/context.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

std::uint64_t string_bytes(std::size_t nbytes) {
  return sizeof(std::string) + nbytes;
}

}  // namespace

NewString allocate_string(std::size_t nbytes) {
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  const Device& cpu = Context::get().cpu();
  BufferRef buffer(new Buffer);
  buffer->claim = host_budget().reserve(string_bytes(nbytes), TagScope::retagged(owner));
  buffer->device = &cpu;
  buffer->strings.resize(1);
  std::string* const bytes = buffer->strings.data();
  bytes->resize(nbytes);
  return {make_tensor(DType::kString, Shape(), std::move(buffer)), bytes};
}

void resize_string(NewString& made, std::size_t nbytes) {
  memory::Reservation& claim = made.tensor.impl()->buffer->claim;
  // While it grows, the old one is there too.
  const memory::Reservation old = host_budget().reserve(made.bytes->size(), claim.owner());
  PLIMSOLL_CHECK(claim.try_resize(string_bytes(nbytes)), ResourceExhaustedError,
                 "OOM when making a string of {} bytes on {}", nbytes,
                 Context::get().cpu().full_name());
  std::string other(nbytes, '\0');  // of its own: resize() would take twice as much
  made.bytes->copy(other.data(), nbytes);
  made.bytes->swap(other);
}

}  // namespace plimsoll

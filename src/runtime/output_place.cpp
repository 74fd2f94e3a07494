#include "runtime/output_place.h"

#include "memory/block_part.h"

namespace plimsoll {

OutputPlace::OutputPlace(const Tensor& whole, std::uint64_t offset, std::uint64_t nbytes)
    : outer_(current_), buffer_(new Buffer), dtype_(whole.dtype()) {
  const TensorImpl& impl = *whole.impl();
  buffer_->lender = std::make_shared<const Tensor>(whole);
  buffer_->block = memory::part_of(impl.buffer->block, impl.offset + offset, nbytes);
  buffer_->device = impl.buffer->device;
  current_ = this;
}

bool OutputPlace::holds(const Tensor& t) const noexcept {
  return t.impl()->buffer.get() == buffer_.get() && t.impl()->offset == 0 &&
         tensor_bytes(t.dtype(), t.shape()) == buffer_->block.nbytes();
}

Tensor OutputPlace::try_take_it(const TensorDevice& device, const TensorSpec& spec) const {
  const bool fits = spec.dtype == dtype_ && &device == buffer_->device && is_free() &&
                    tensor_bytes(spec.dtype, spec.shape) == buffer_->block.nbytes();
  return fits ? make_tensor(spec.dtype, spec.shape, buffer_) : Tensor();
}

}  // namespace plimsoll

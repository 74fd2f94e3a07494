// Memory that the next result of a thread may be written into, instead of memory of its own: a row
// of the batch that it is going to be part of.
//
//   OutputPlace place(batch, offset, nbytes);      // bytes that nobody looks at yet
//   const Tensor image = image::resize(...);       // stands there, if it has that type and size
//   place.holds(image);                            // then it need not be copied
//
// Whatever is of that type and size may take the place, and once it is gone, so may the next.
#pragma once

#include "plimsoll/tensor_spec.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

class OutputPlace {
 public:
  // From now on for calls of this thread. pre: they are bytes of `whole`, which is on the host.
  OutputPlace(const Tensor& whole, std::uint64_t offset, std::uint64_t nbytes);
  // From now on no place, whatever was there before.
  OutputPlace() noexcept : outer_(current_) { current_ = this; }
  ~OutputPlace() { current_ = outer_; }
  OutputPlace(const OutputPlace&) = delete;
  OutputPlace& operator=(const OutputPlace&) = delete;

  // Whether a tensor is just that place.
  bool holds(const Tensor& t) const noexcept;
  // Whether no tensor is in it.
  bool is_free() const noexcept { return buffer_->count.load(std::memory_order_acquire) == 1; }

  static bool is_any() noexcept { return current_ && current_->buffer_; }  // on this thread
  // A tensor in the place of this thread; not valid if there is none that fits and is free.
  static Tensor try_take(const TensorDevice& device, const TensorSpec& spec) {
    return is_any() ? current_->try_take_it(device, spec) : Tensor();
  }

 private:
  Tensor try_take_it(const TensorDevice& device, const TensorSpec& spec) const;

  inline static constinit thread_local const OutputPlace* current_ = nullptr;
  const OutputPlace* const outer_;
  BufferRef buffer_;  // of its own, so that it is seen who holds it
  DType dtype_ = DType::kFloat32;
};

}  // namespace plimsoll

// Inside of Tensor: the shared buffer, and what a handle points to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/memory/heap.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// What a tensor has to know of its device.
class TensorDevice {
 public:
  virtual ~TensorDevice() = default;
  virtual const std::string& full_name() const noexcept = 0;
  // Copies from this device's memory to the host. throws: ResourceExhaustedError, InternalError.
  virtual void copy_to_host(const memory::Block& block, std::uint64_t offset, void* to,
                            std::uint64_t nbytes) const = 0;
};

// An intrusive reference count.
struct RefCounted {
  std::atomic<std::uint32_t> count{1};
  void add_ref() noexcept { count.fetch_add(1, std::memory_order_relaxed); }
  bool drop_ref() noexcept { return count.fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

struct Buffer : RefCounted {
  std::shared_ptr<const void> lender;  // of a borrowed block, and goes after it
  memory::Block block;
  const TensorDevice* device = nullptr;
  // String tensors live on the host: payloads here, their bytes in `claim`.
  std::vector<std::string> strings;
  memory::Reservation claim;
};

// A counted pointer to a Buffer.
class BufferRef {
 public:
  BufferRef() noexcept = default;
  explicit BufferRef(Buffer* adopted) noexcept : buffer_(adopted) {}
  BufferRef(const BufferRef& other) noexcept : buffer_(other.buffer_) {
    if (buffer_) buffer_->add_ref();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ && buffer_->drop_ref()) delete buffer_;
  }
  Buffer* operator->() const noexcept { return buffer_; }
  Buffer* get() const noexcept { return buffer_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

// What layers say of a tensor to the layers and losses behind them.
struct TensorNotes {
  Tensor mask;    // which time steps count
  Tensor logits;  // of which it is the softmax or sigmoid
};

struct TensorImpl : RefCounted {
  DType dtype = DType::kFloat32;
  Shape shape;
  BufferRef buffer;          // none: only the spec is known (a probe of a gradient, a traced value)
  std::uint64_t offset = 0;  // bytes into the buffer: views share it
  std::uint64_t id = 0;      // unique in the process; tapes know tensors by it
  std::unique_ptr<TensorNotes> notes;  // most have none
};

std::uint64_t next_tensor_id() noexcept;
// A handle of its own to a new tensor.
Tensor make_tensor(DType dtype, const Shape& shape, BufferRef buffer, std::uint64_t offset = 0);
// A tensor without memory.
Tensor make_spec_tensor(DType dtype, const Shape& shape);

// Whether nobody but this handle sees the tensor and its memory, which a lender of it does. pre: it
// has a buffer.
inline bool is_sole_handle(const Tensor& t) noexcept {
  return t.impl()->count.load(std::memory_order_acquire) == 1 &&
         t.impl()->buffer->count.load(std::memory_order_acquire) == 1 &&
         !t.impl()->buffer->block.is_borrowed();
}

inline std::uint64_t tensor_bytes(DType dtype, const Shape& shape) noexcept {
  return static_cast<std::uint64_t>(shape.num_elements()) *
         static_cast<std::uint64_t>(dtype_size(dtype));
}
// throws: InvalidArgumentError if the bytes do not fit into 63 bits.
std::uint64_t checked_tensor_bytes(DType dtype, const Shape& shape);

}  // namespace plimsoll

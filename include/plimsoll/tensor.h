// A tensor: an element type, a shape and a buffer on a device, shared by its handles.
//
//   tf::Tensor x = tf::constant({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
//   tf::Tensor y = tf::matmul(x, x) + 1.0F;
//   y.to_vector<float>();                     // {8, 11, 16, 23}
//
// Handles are cheap to copy. Tensors do not change; when the last handle goes, the memory is back.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct TensorImpl;  // internal

class Tensor {
 public:
  Tensor() noexcept = default;  // no tensor: is_valid() is false
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor();

  bool is_valid() const noexcept { return impl_ != nullptr; }

  // pre for all below: is_valid().
  DType dtype() const noexcept;
  const Shape& shape() const noexcept;
  int rank() const noexcept { return shape().rank(); }
  std::int64_t num_elements() const noexcept { return shape().num_elements(); }
  std::int64_t nbytes() const noexcept;
  std::string device() const;  // "/job:localhost/replica:0/task:0/device:CPU:0"

  // Copies the elements out, from whatever device.
  // throws: InvalidArgumentError if T is not the tensor's type.
  template <class T>
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<std::size_t>(num_elements()));
    if constexpr (std::is_same_v<T, std::string>) {
      copy_strings(values);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::vector<std::uint8_t> bytes(values.size());
      copy_out(DType::kBool, bytes.data());
      values.assign(bytes.begin(), bytes.end());
    } else {
      copy_out(dtype_of<T>, values.data());
    }
    return values;
  }
  // The only element. throws: InvalidArgumentError if there are more or fewer.
  template <class T>
  T item() const {
    check_single();
    return to_vector<T>()[0];
  }

  // As TensorFlow prints it: tf.Tensor([1. 2.], shape=(2,), dtype=float32)
  std::string to_string() const;

  TensorImpl* impl() const noexcept { return impl_; }                // internal
  explicit Tensor(TensorImpl* adopted) noexcept : impl_(adopted) {}  // internal

 private:
  void copy_out(DType expected, void* to) const;
  void copy_strings(std::vector<std::string>& to) const;
  void check_single() const;

  TensorImpl* impl_ = nullptr;
};

}  // namespace plimsoll

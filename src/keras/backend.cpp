#include "keras/backend.h"

#include <mutex>
#include <random>

#include "plimsoll/ops.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::keras {
namespace {

struct Seeds {
  std::mutex mutex;
  std::mt19937_64 engine{std::random_device{}()};
};
Seeds& seeds() {
  static Seeds one;
  return one;
}

TensorNotes& notes_of(const Tensor& tensor) {
  auto& notes = tensor.impl()->notes;
  if (!notes) notes = std::make_unique<TensorNotes>();
  return *notes;
}

}  // namespace

std::int64_t make_default_seed() {
  std::scoped_lock lock(seeds().mutex);
  return static_cast<std::int64_t>(seeds().engine() % 1'000'000'000);
}

void seed_everything(std::int64_t seed) {
  random::set_seed(seed);
  std::scoped_lock lock(seeds().mutex);
  seeds().engine.seed(static_cast<std::uint64_t>(seed));
}

random::Seed draw_seed(std::optional<std::int64_t> seed) {
  return {seed ? *seed : make_default_seed(), 0};
}

Tensor normalize(const Tensor& x, const std::vector<std::int64_t>& axes, double epsilon) {
  const Tensor inverse = math::rsqrt(reduce_sum(square(x), axes, true));
  return x * minimum(inverse, fill(Shape(), 1 / epsilon, x.dtype()));
}

Tensor keras_mask(const Tensor& tensor) {
  return tensor.impl()->notes ? tensor.impl()->notes->mask : Tensor();
}
void set_keras_mask(const Tensor& tensor, const Tensor& mask) {
  notes_of(tensor).mask = mask;
}
Tensor keras_logits(const Tensor& tensor) {
  return tensor.impl()->notes ? tensor.impl()->notes->logits : Tensor();
}
void set_keras_logits(const Tensor& tensor, const Tensor& logits) {
  notes_of(tensor).logits = logits;
}

}  // namespace plimsoll::keras

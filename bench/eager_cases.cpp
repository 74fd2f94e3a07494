#include "eager_cases.h"

#include <cmath>
#include <memory>

namespace plimsoll::bench {

Tensor numbers(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 7919 % 1000) / 500.0F - 1.0F;
  }
  return constant(std::span<const float>(values), shape);
}

namespace {

// Inputs are made when a case first runs, so that only the case at hand holds memory.
EagerCase with_input(std::string name, std::string what, bool is_small, const Shape& shape,
                     Tensor (*f)(const Tensor&)) {
  auto x = std::make_shared<Tensor>();
  return {
      .name = std::move(name), .what = std::move(what), .is_small = is_small, .run = [x, shape, f] {
        if (!x->is_valid()) *x = numbers(shape);
        return f(*x);
      }};
}

Tensor tape_100(const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 100; ++i) y = add(y, x);
  return tape.gradient(y, x);
}

EagerCase layer_norm(const Shape& shape) {
  struct State {
    Tensor x, scale, offset;
  };
  auto s = std::make_shared<State>();
  return {.name = "layer_norm", .what = "layer norm of 2^24 in rows of 1024", .run = [s, shape] {
            if (!s->x.is_valid())
              *s = {numbers(shape), ones({shape.dim(1)}), zeros({shape.dim(1)})};
            return nn::layer_norm(s->x, s->scale, s->offset);
          }};
}

enum class Side { kForward, kInput, kFilter };

// A convolution over 16 images of 56 x 56, or one of its gradients: the tape is recorded once.
EagerCase conv(std::string name, std::string what, std::int64_t channels, std::int64_t kernel,
               Side side) {
  struct State {
    Tensor x, w, y, dy;
    std::unique_ptr<GradientTape> tape;
  };
  auto s = std::make_shared<State>();
  return {.name = std::move(name), .what = std::move(what), .run = [s, channels, kernel, side] {
            if (!s->x.is_valid()) {
              s->x = numbers({16, 56, 56, channels});
              s->w = numbers({kernel, kernel, channels, 64});
              s->dy = numbers({16, 56, 56, 64});
              if (side != Side::kForward) {
                s->tape = std::make_unique<GradientTape>(GradientTapeOptions{.persistent = true});
                s->tape->watch(side == Side::kInput ? s->x : s->w);
                s->y = nn::conv2d(s->x, s->w, 1, "SAME");
                s->tape->stop();
              }
            }
            if (side == Side::kForward) return nn::conv2d(s->x, s->w, 1, "SAME");
            const Tensor& source = side == Side::kInput ? s->x : s->w;
            return s->tape->gradient(std::span(&s->y, 1), std::span(&source, 1),
                                     std::span(&s->dy, 1))[0];
          }};
}

// Attention over 8192 places, 4 heads of 64, or its gradients by query, key and value.
EagerCase attention(std::string name, std::string what, bool is_causal, bool is_gradient) {
  struct State {
    Tensor in[3], y, dy;
    std::unique_ptr<GradientTape> tape;
  };
  auto s = std::make_shared<State>();
  return {.name = std::move(name),
          .what = std::move(what),
          .note = "TensorFlow left out: its probabilities alone are 1 GiB",
          .run = [s, is_causal, is_gradient] {
            const auto attend = [&] {
              return nn::scaled_dot_product_attention(s->in[0], s->in[1], s->in[2],
                                                      {.is_causal = is_causal});
            };
            if (!s->dy.is_valid()) {
              for (Tensor& x : s->in) x = numbers({1, 8192, 4, 64});
              s->dy = numbers({1, 8192, 4, 64});
              if (is_gradient) {
                s->tape = std::make_unique<GradientTape>(GradientTapeOptions{.persistent = true});
                for (Tensor& x : s->in) s->tape->watch(x = identity(x));
                s->y = attend();
                s->tape->stop();
              }
            }
            if (!is_gradient) return attend();
            return s->tape->gradient(std::span(&s->y, 1), std::span(s->in),
                                     std::span(&s->dy, 1))[1];
          }};
}

}  // namespace

double checksum(const Tensor& tensor) {
  double sum = 0;
  for (const float value : cast(tensor, float32).to_vector<float>())
    sum += std::abs(static_cast<double>(value));
  return sum;
}

std::vector<EagerCase> eager_cases() {
  const auto product = [](const Tensor& x) { return matmul(x, x); };
  const Shape rows{16384, 1024};
  return {
      with_input("add", "add of 4x4: overhead", true, {4, 4},
                 [](const Tensor& x) { return add(x, x); }),
      with_input("matmul_8", "matmul of 8x8: overhead", true, {8, 8}, product),
      with_input("reshape", "reshape: overhead", true, {4, 4},
                 [](const Tensor& x) { return reshape(x, {16}); }),
      with_input("tape_100", "tape over 100 adds, with its gradient", true, {4, 4}, tape_100),
      with_input("matmul_1024", "matmul of 1024x1024", false, {1024, 1024}, product),
      with_input("matmul_4096", "matmul of 4096x4096", false, {4096, 4096}, product),
      conv("conv3x3", "conv 3x3, 64 to 64 channels, 16x56x56", 64, 3, Side::kForward),
      conv("conv3x3_input", "its gradient by the input", 64, 3, Side::kInput),
      conv("conv3x3_filter", "its gradient by the filter", 64, 3, Side::kFilter),
      conv("conv1x1", "conv 1x1, 256 to 64 channels, 16x56x56", 256, 1, Side::kForward),
      conv("conv1x1_input", "its gradient by the input (1x1)", 256, 1, Side::kInput),
      conv("conv1x1_filter", "its gradient by the filter (1x1)", 256, 1, Side::kFilter),
      with_input("softmax", "softmax of 2^24 in rows of 1024", false, rows,
                 [](const Tensor& x) { return nn::softmax(x); }),
      layer_norm(rows),
      with_input("gelu", "gelu of 2^24", false, rows, [](const Tensor& x) { return nn::gelu(x); }),
      attention("attention", "attention, 8192 places, 4 heads of 64", false, false),
      attention("attention_grad", "its gradients by query, key and value", false, true),
      attention("attention_causal", "causal attention, likewise", true, false),
      attention("attention_causal_grad", "its gradients (causal)", true, true),
      {.name = "normal",
       .what = "2^24 normal random numbers",
       .is_random = true,
       .run = [rows] { return random::normal(rows); }},
  };
}

}  // namespace plimsoll::bench

// The eager cases in libtorch, as a peer process of bench_eager. Built only where PyTorch's headers
// are (scripts/bench eager fetches the wheel).
#include "eager_torch.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>

torch::Tensor numbers(std::vector<int64_t> shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  auto t = torch::empty({n});
  float* p = t.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) p[i] = static_cast<float>(i * 7919 % 1000) / 500.0F - 1.0F;
  return t.reshape(shape);
}

namespace {

struct Conv {
  torch::Tensor x, w, dy;
  int64_t padding;
  Conv(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t kernel) : padding(kernel / 2) {
    // Made in NHWC / HWIO order, used as PyTorch likes it best: channels_last.
    x = numbers({batch, size, size, in}).permute({0, 3, 1, 2});
    w = numbers({kernel, kernel, in, out})
            .permute({3, 2, 0, 1})
            .contiguous(at::MemoryFormat::ChannelsLast);
    dy = numbers({batch, size, size, out}).permute({0, 3, 1, 2});
  }
  torch::Tensor forward() const { return at::conv2d(x, w, {}, 1, padding); }
  torch::Tensor backward(bool to_input) const {
    const auto g = at::convolution_backward(dy, x, w, c10::nullopt, {1, 1}, {padding, padding},
                                            {1, 1}, false, {0, 0}, 1, {to_input, !to_input, false});
    return to_input ? std::get<0>(g) : std::get<1>(g);
  }
};

// The kernel under scaled_dot_product_attention, and its gradient.
struct Attention {
  torch::Tensor q, k, v, dy, out, lse;
  bool is_causal;
  explicit Attention(bool causal) : is_causal(causal) {
    // [batch, time, heads, dim] in memory, as everywhere; PyTorch takes it as [batch, heads, ...].
    const auto make = [] { return numbers({1, 8192, 4, 64}).transpose(1, 2); };
    q = make(), k = make(), v = make(), dy = make();
  }
  torch::Tensor forward() const {
    return at::scaled_dot_product_attention(q, k, v, {}, 0.0, is_causal);
  }
  torch::Tensor backward() {
    if (!out.defined()) {
      std::tie(out, lse) = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal);
    }
    return std::get<1>(at::_scaled_dot_product_flash_attention_for_cpu_backward(
        dy, q, k, v, out, lse, 0.0, is_causal));
  }
};

Case make_case(const std::string& name) {
  if (name.find(':') != std::string::npos) return make_model_case(name);
  if (name == "add") {
    auto x = numbers({4, 4});
    return [x] { return at::add(x, x); };
  }
  if (name == "matmul_8") {
    auto x = numbers({8, 8});
    return [x] { return at::matmul(x, x); };
  }
  if (name == "reshape") {
    auto x = numbers({4, 4});
    return [x] { return at::reshape(x, {16}); };
  }
  if (name == "tape_100") {
    auto x = numbers({4, 4}).requires_grad_(true);
    return [x] {
      auto y = x;
      for (int i = 0; i < 100; ++i) y = torch::add(y, x);
      return torch::autograd::grad({y.sum()}, {x})[0];
    };
  }
  if (name == "matmul_1024" || name == "matmul_4096") {
    const int64_t n = std::stoll(name.substr(7));
    auto x = numbers({n, n});
    return [x] { return at::matmul(x, x); };
  }
  if (name.rfind("conv", 0) == 0) {
    const bool is_3x3 = name.rfind("conv3x3", 0) == 0;
    auto c = std::make_shared<Conv>(16, 56, is_3x3 ? 64 : 256, 64, is_3x3 ? 3 : 1);
    if (name.ends_with("_input")) return [c] { return c->backward(true); };
    if (name.ends_with("_filter")) return [c] { return c->backward(false); };
    return [c] { return c->forward(); };
  }
  if (name.rfind("attention", 0) == 0) {
    auto a = std::make_shared<Attention>(name.find("causal") != std::string::npos);
    if (name.ends_with("_grad")) return [a] { return a->backward(); };
    return [a] { return a->forward(); };
  }
  if (name == "softmax") {
    auto x = numbers({16384, 1024});
    return [x] { return at::softmax(x, -1); };
  }
  if (name == "layer_norm") {
    auto x = numbers({16384, 1024});
    auto w = at::ones({1024}), b = at::zeros({1024});
    return [x, w, b] { return at::layer_norm(x, {1024}, w, b, 1e-3); };
  }
  if (name == "gelu") {
    auto x = numbers({16384, 1024});
    return [x] { return at::gelu(x); };
  }
  if (name == "normal") {
    return [] { return at::randn({16384, 1024}); };
  }
  return nullptr;
}

}  // namespace

int main() {
  std::printf("ready\n");
  std::fflush(stdout);
  std::map<std::string, Case> cases;
  for (std::string name; std::cin >> name;) {
    int iterations = 0;
    std::cin >> iterations;
    at::NoGradGuard no_grad;
    at::AutoGradMode with_grad(name == "tape_100");
    if (!cases.count(name)) cases[name] = make_case(name);
    if (!cases[name]) {
      std::printf("unknown\n");
      std::fflush(stdout);
      continue;
    }
    torch::Tensor out = cases[name]();  // warm
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) out = cases[name]();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.9g %.9g\n", seconds, out.to(at::kDouble).abs().sum().item<double>());
    std::fflush(stdout);
  }
}

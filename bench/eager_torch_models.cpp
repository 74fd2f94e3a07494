// The cases of model_cases.cpp in libtorch, made from their names.
#include "case_name.h"
#include "eager_torch.h"

namespace {

using torch::Tensor;
using Sizes = std::vector<int64_t>;

struct Op {
  std::vector<Tensor> in;
  std::function<Tensor(const std::vector<Tensor>&)> f;
};

// Made in NHWC order, used as PyTorch likes it best: channels_last.
Tensor images(int64_t n, int64_t size, int64_t channels) {
  return numbers({n, size, size, channels}).permute({0, 3, 1, 2});
}

Op product(const Sizes& s, bool ta, bool tb, at::ScalarType type = at::kFloat) {
  const auto matrix = [&](int64_t rows, int64_t columns, bool transposed) {
    if (transposed) std::swap(rows, columns);
    Tensor t = (s[0] == 1 ? numbers({rows, columns}) : numbers({s[0], rows, columns})).to(type);
    return transposed ? t.transpose(-1, -2) : t;
  };
  return {{matrix(s[1], s[2], ta), matrix(s[2], s[3], tb)},
          [](const auto& in) { return at::matmul(in[0], in[1]); }};
}

Op make_op(const std::string& name, const Sizes& s) {
  const auto rows = [&](auto f) { return Op{{numbers({s[0], s[1]})}, f}; };
  if (name == "conv") {
    return {{images(s[0], s[1], s[2]), numbers({s[4], s[4], s[2], s[3]})
                                           .permute({3, 2, 0, 1})
                                           .contiguous(at::MemoryFormat::ChannelsLast)},
            [s](const auto& in) { return at::conv2d(in[0], in[1], {}, s[5], s[4] / 2); }};
  }
  if (name == "depthwise") {
    return {
        {images(s[0], s[1], s[2]),
         numbers({3, 3, s[2], 1}).permute({2, 3, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast)},
        [s](const auto& in) { return at::conv2d(in[0], in[1], {}, s[3], 1, 1, s[2]); }};
  }
  if (name == "batch_norm") {
    return {{images(s[0], s[1], s[2]), at::ones({s[2]}), at::zeros({s[2]})}, [](const auto& in) {
              return at::batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-3, false);
            }};
  }
  if (name == "max_pool")
    return {{images(s[0], s[1], s[2])},
            [](const auto& in) { return at::max_pool2d(in[0], 3, 2, 1); }};
  if (name == "global_mean")
    return {{images(s[0], s[1], s[2])}, [](const auto& in) { return at::mean(in[0], {2, 3}); }};
  if (name == "relu") return rows([](const auto& in) { return at::relu(in[0]); });
  if (name == "relu6") return rows([](const auto& in) { return at::hardtanh(in[0], 0, 6); });
  if (name == "gelu") return rows([](const auto& in) { return at::gelu(in[0]); });
  if (name == "softmax") return rows([](const auto& in) { return at::softmax(in[0], -1); });
  if (name == "add") return rows([](const auto& in) { return at::add(in[0], in[0]); });
  if (name == "sum_rows") return rows([](const auto& in) { return at::sum(in[0], {0}); });
  if (name == "layer_norm") {
    return {{numbers({s[0], s[1]}), at::ones({s[1]}), at::zeros({s[1]})},
            [s](const auto& in) { return at::layer_norm(in[0], {s[1]}, in[1], in[2], 1e-3); }};
  }
  if (name == "bias_add")
    return {{numbers({s[0], s[1]}), numbers({s[1]})},
            [](const auto& in) { return at::add(in[0], in[1]); }};
  if (name == "cross_entropy") {
    const Tensor classes = at::arange(s[0], at::kLong) * 7919 % s[1];
    return rows([classes](const auto& in) {
      return at::cross_entropy_loss(in[0], classes, {}, at::Reduction::None);
    });
  }
  if (name == "product") return product(s, false, false);
  if (name == "product_nt") return product(s, false, true);
  if (name == "product_tn") return product(s, true, false);
  if (name == "product64") return product(s, false, false, at::kDouble);
  if (name == "lstm") {
    const auto kernel = [&](int64_t rows) {
      return (numbers({rows, 4 * s[3]}) * 0.05).t().contiguous();
    };
    const Tensor state = at::zeros({1, s[0], s[3]}), no_bias = at::zeros({4 * s[3]});
    return {{numbers({s[0], s[1], s[2]}), kernel(s[2]), kernel(s[3]), at::zeros({4 * s[3]})},
            [state, no_bias](const auto& in) {
              return std::get<0>(at::lstm(in[0], {state, state}, {in[1], in[2], in[3], no_bias},
                                          true, 1, 0, true, false, true));
            }};
  }
  return {{numbers(s)}, [](const auto& in) { return in[0].permute({0, 2, 1, 3}).contiguous(); }};
}

}  // namespace

Case make_model_case(const std::string& name) {
  const CaseName c(name);
  auto op = std::make_shared<Op>(make_op(c.op, c.sizes));
  if (!c.is_gradient()) return [op] { return op->f(op->in); };
  at::AutoGradMode with_grad(true);
  std::vector<Tensor> sources;
  for (std::size_t i = c.first_source(); i < c.end_source(op->in.size()); ++i)
    sources.push_back(op->in[i].requires_grad_(true));
  const Tensor y = op->f(op->in);
  // The gradient's elements in the order of memory, as everywhere.
  const Tensor dy =
      y.dim() == 4 && c.op != "heads_first"
          ? numbers({y.size(0), y.size(2), y.size(3), y.size(1)}).permute({0, 3, 1, 2})
          : numbers(y.sizes().vec());
  return [sources, y, dy] { return torch::autograd::grad({y}, sources, {dy}, true)[0]; };
}

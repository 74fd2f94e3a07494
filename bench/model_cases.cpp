// Ops at the sizes of models, forward and backward: ResNet-50 and MobileNetV2 with 16 images, an
// encoder of transformers with 32 sequences of 128, an LSTM over 64 sequences of 64. A case is
// named "op:size,size,..." so that the peer can make it from its name.
#include <algorithm>
#include <memory>
#include <string_view>

#include "case_name.h"
#include "eager_cases.h"

namespace plimsoll::bench {
namespace {

using Sizes = std::vector<std::int64_t>;

// An op with its inputs. The gradient by `sources` is what is measured, if there are any.
struct Op {
  std::vector<Tensor> in;
  std::function<Tensor(const std::vector<Tensor>&)> f;
  std::vector<std::size_t> sources = {};
};

nn::PaddingArg around(std::int64_t kernel) {
  const std::int64_t p = kernel / 2;
  return nn::PaddingArg({{0, 0}, {p, p}, {p, p}, {0, 0}});
}

// images, size, channels in, channels out, kernel, stride
Op conv(const Sizes& s) {
  return {{numbers({s[0], s[1], s[1], s[2]}), numbers({s[4], s[4], s[2], s[3]})},
          [s](const auto& in) { return nn::conv2d(in[0], in[1], s[5], around(s[4])); }};
}
// images, size, channels, stride
Op depthwise(const Sizes& s) {
  return {{numbers({s[0], s[1], s[1], s[2]}), numbers({3, 3, s[2], 1})}, [s](const auto& in) {
            return nn::depthwise_conv2d(in[0], in[1], {1, s[3], s[3], 1}, around(3));
          }};
}
// images, size, channels
Op batch_norm(const Sizes& s) {
  return {{numbers({s[0], s[1], s[1], s[2]}), ones({s[2]}), zeros({s[2]})},
          [](const auto& in) { return nn::batch_norm(in[0], in[1], in[2]).y; }};
}
Op max_pool(const Sizes& s) {
  return {{numbers({s[0], s[1], s[1], s[2]})},
          [](const auto& in) { return nn::max_pool2d(in[0], 3, 2, around(3)); }};
}
Op global_mean(const Sizes& s) {
  return {{numbers({s[0], s[1], s[1], s[2]})}, [](const auto& in) {
            return reduce_mean(in[0], {1, 2});
          }};
}
// rows, columns
Op of_rows(const Sizes& s, Tensor (*f)(const Tensor&)) {
  return {{numbers({s[0], s[1]})}, [f](const auto& in) { return f(in[0]); }};
}
Op layer_norm(const Sizes& s) {
  return {{numbers({s[0], s[1]}), ones({s[1]}), zeros({s[1]})},
          [](const auto& in) { return nn::layer_norm(in[0], in[1], in[2]); }};
}
Op bias_add(const Sizes& s) {
  return {{numbers({s[0], s[1]}), numbers({s[1]})},
          [](const auto& in) { return nn::bias_add(in[0], in[1]); }};
}
Op cross_entropy(const Sizes& s) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(s[0]));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::int64_t>(i) * 7919 % s[1];
  const Tensor classes = constant(std::span<const std::int64_t>(labels), {s[0]});
  return {{numbers({s[0], s[1]})}, [classes](const auto& in) {
            return nn::sparse_softmax_cross_entropy_with_logits(classes, in[0]);
          }};
}
// batch, rows, depth, columns
Op product(const Sizes& s, MatMulOptions options, DType dtype = float32) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    if (transposed) std::swap(rows, columns);
    return cast(s[0] == 1 ? numbers({rows, columns}) : numbers({s[0], rows, columns}), dtype);
  };
  return {{matrix(s[1], s[2], options.transpose_a), matrix(s[2], s[3], options.transpose_b)},
          [options, dtype](const auto& in) { return matmul(in[0], in[1], options); }};
}
// batch, time, features, units
Op lstm(const Sizes& s) {
  return {{numbers({s[0], s[1], s[2]}), numbers({s[2], 4 * s[3]}) * 0.05F,
           numbers({s[3], 4 * s[3]}) * 0.05F, zeros({4 * s[3]})},
          [](const auto& in) { return nn::lstm(in[0], in[1], in[2], in[3]).outputs; }};
}
Op heads_first(const Sizes& s) {
  return {{numbers({s[0], s[1], s[2], s[3]})}, [](const auto& in) {
            return transpose(in[0], {0, 2, 1, 3});
          }};
}

Tensor sum_of_rows(const Tensor& x) {
  return reduce_sum(x, {0});
}
Tensor doubled(const Tensor& x) {
  return add(x, x);
}

// The op of a name without its gradient's ending.
Op make_op(const std::string& name, const Sizes& s) {
  if (name == "conv") return conv(s);
  if (name == "depthwise") return depthwise(s);
  if (name == "batch_norm") return batch_norm(s);
  if (name == "max_pool") return max_pool(s);
  if (name == "global_mean") return global_mean(s);
  if (name == "relu") return of_rows(s, nn::relu);
  if (name == "relu6") return of_rows(s, nn::relu6);
  if (name == "gelu") return of_rows(s, [](const Tensor& x) { return nn::gelu(x); });
  if (name == "softmax") return of_rows(s, [](const Tensor& x) { return nn::softmax(x); });
  if (name == "add") return of_rows(s, doubled);
  if (name == "sum_rows") return of_rows(s, sum_of_rows);
  if (name == "layer_norm") return layer_norm(s);
  if (name == "bias_add") return bias_add(s);
  if (name == "cross_entropy") return cross_entropy(s);
  if (name == "product") return product(s, {});
  if (name == "product_nt") return product(s, {.transpose_b = true});
  if (name == "product_tn") return product(s, {.transpose_a = true});
  if (name == "product64") return product(s, {}, float64);
  if (name == "lstm") return lstm(s);
  return heads_first(s);
}

// What each name takes; as make_op.
struct Form {
  const char *name, *sizes;
};
constexpr const char* kRowsForm = "rows, columns";
constexpr const char* kProductForm = "batch, rows, depth, columns";
constexpr Form kForms[] = {{"conv", "images, size, channels in, channels out, kernel, stride"},
                           {"depthwise", "images, size, channels, stride"},
                           {"batch_norm", "images, size, channels"},
                           {"max_pool", "images, size, channels"},
                           {"global_mean", "images, size, channels"},
                           {"relu", kRowsForm},
                           {"relu6", kRowsForm},
                           {"gelu", kRowsForm},
                           {"softmax", kRowsForm},
                           {"add", kRowsForm},
                           {"sum_rows", kRowsForm},
                           {"layer_norm", kRowsForm},
                           {"bias_add", kRowsForm},
                           {"cross_entropy", kRowsForm},
                           {"product", kProductForm},
                           {"product_nt", kProductForm},
                           {"product_tn", kProductForm},
                           {"product64", kProductForm},
                           {"heads_first", "batch, places, heads, dim"}};

// throws: InvalidArgumentError for a name that make_op cannot make a case of.
void check_name(const std::string& name) {
  std::string known;
  const std::string op = name.find(':') == std::string::npos ? name : CaseName(name).op;
  for (const Form& form : kForms) {
    known += known.empty() ? form.name : std::string(", ") + form.name;
    if (op != form.name) continue;
    const std::string_view sizes = form.sizes;
    const auto wanted = static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), ',')) + 1;
    const Sizes given = name.find(':') == std::string::npos ? Sizes{} : CaseName(name).sizes;
    const bool is_positive = std::all_of(given.begin(), given.end(), [](auto n) { return n > 0; });
    if (given.size() != wanted || !is_positive) {
      throw InvalidArgumentError("'" + name + "': " + op + " takes " + std::to_string(wanted) +
                                 " positive sizes (" + form.sizes + "), got " +
                                 std::to_string(given.size()));
    }
    return;
  }
  throw InvalidArgumentError("no case is called '" + op + "'; there are: " + known);
}

std::function<Tensor()> make_run(const std::string& name) {
  const CaseName c(name);
  auto op = std::make_shared<Op>(make_op(c.op, c.sizes));
  if (!c.is_gradient()) return [op] { return op->f(op->in); };
  auto tape = std::make_shared<GradientTape>(GradientTapeOptions{.persistent = true});
  std::vector<Tensor> sources;
  for (std::size_t i = c.first_source(); i < c.end_source(op->in.size()); ++i) {
    sources.push_back(op->in[i]);
    tape->watch(op->in[i]);
  }
  const Tensor y = op->f(op->in);
  tape->stop();
  const Tensor dy = numbers(y.shape());
  return [tape, sources, y, dy] {
    return tape->gradient(std::span(&y, 1), sources, std::span(&dy, 1))[0];
  };
}

}  // namespace

std::vector<EagerCase> model_cases() {
  const char* names[] = {"conv:16,224,3,64,7,2",
                         "conv_filter:16,224,3,64,7,2",
                         "conv:16,56,64,64,1,1",
                         "conv_input:16,56,64,64,1,1",
                         "conv_filter:16,56,64,64,1,1",
                         "conv:16,56,64,256,1,1",
                         "conv_input:16,56,64,256,1,1",
                         "conv_filter:16,56,64,256,1,1",
                         "conv:16,56,64,64,3,1",
                         "conv_input:16,56,64,64,3,1",
                         "conv_filter:16,56,64,64,3,1",
                         "conv:16,56,256,512,1,2",
                         "conv_input:16,56,256,512,1,2",
                         "conv_filter:16,56,256,512,1,2",
                         "conv:16,56,128,128,3,2",
                         "conv_input:16,56,128,128,3,2",
                         "conv_filter:16,56,128,128,3,2",
                         "conv:16,28,128,128,3,1",
                         "conv_input:16,28,128,128,3,1",
                         "conv_filter:16,28,128,128,3,1",
                         "conv:16,28,512,128,1,1",
                         "conv_input:16,28,512,128,1,1",
                         "conv_filter:16,28,512,128,1,1",
                         "conv:16,14,256,256,3,1",
                         "conv_input:16,14,256,256,3,1",
                         "conv_filter:16,14,256,256,3,1",
                         "conv:16,14,1024,256,1,1",
                         "conv_input:16,14,1024,256,1,1",
                         "conv_filter:16,14,1024,256,1,1",
                         "conv:16,7,512,512,3,1",
                         "conv_input:16,7,512,512,3,1",
                         "conv_filter:16,7,512,512,3,1",
                         "conv:16,7,512,2048,1,1",
                         "conv_input:16,7,512,2048,1,1",
                         "conv_filter:16,7,512,2048,1,1",
                         "conv:16,224,3,32,3,2",
                         "conv_filter:16,224,3,32,3,2",
                         "conv:16,112,16,96,1,1",
                         "conv_input:16,112,16,96,1,1",
                         "conv_filter:16,112,16,96,1,1",
                         "conv:16,56,144,24,1,1",
                         "conv_input:16,56,144,24,1,1",
                         "conv_filter:16,56,144,24,1,1",
                         "depthwise:16,112,32,1",
                         "depthwise_input:16,112,32,1",
                         "depthwise_filter:16,112,32,1",
                         "depthwise:16,112,96,2",
                         "depthwise_input:16,112,96,2",
                         "depthwise_filter:16,112,96,2",
                         "depthwise:16,56,144,1",
                         "depthwise_input:16,56,144,1",
                         "depthwise_filter:16,56,144,1",
                         "depthwise:16,14,384,1",
                         "depthwise_input:16,14,384,1",
                         "depthwise_filter:16,14,384,1",
                         "batch_norm:16,112,64",
                         "batch_norm_grad:16,112,64",
                         "batch_norm:16,56,256",
                         "batch_norm_grad:16,56,256",
                         "batch_norm:16,14,1024",
                         "batch_norm_grad:16,14,1024",
                         "max_pool:16,112,64",
                         "max_pool_grad:16,112,64",
                         "global_mean:16,7,2048",
                         "global_mean_grad:16,7,2048",
                         "relu:50176,256",
                         "relu_grad:50176,256",
                         "relu6:50176,256",
                         "relu6_grad:50176,256",
                         "relu:3136,256",
                         "relu_grad:3136,256",
                         "add:50176,256",
                         "add:3136,256",
                         "gelu:4096,1024",
                         "gelu_grad:4096,1024",
                         "softmax:16384,128",
                         "softmax_grad:16384,128",
                         "layer_norm:4096,256",
                         "layer_norm_grad:4096,256",
                         "bias_add:4096,1024",
                         "sum_rows:4096,1024",
                         "sum_rows:50176,256",
                         "cross_entropy:4096,1000",
                         "cross_entropy_grad:4096,1000",
                         "heads_first:32,128,4,64",
                         "heads_first:32,4,128,64",
                         "product:1,4096,256,1024",
                         "product_nt:1,4096,1024,256",
                         "product_tn:1,256,4096,1024",
                         "product:128,128,128,64",
                         "product_nt:128,128,64,128",
                         "product_tn:128,128,128,64",
                         "product:1,1024,1024,1024",
                         "product_nt:1,1024,1024,1024",
                         "product_tn:1,1024,1024,1024",
                         "product:1,128,784,512",
                         "product_nt:1,128,512,784",
                         "product_tn:1,784,128,512",
                         "product:1,16,2048,1000",
                         "product_nt:1,16,1000,2048",
                         "product_tn:1,2048,16,1000",
                         "product64:1,1024,1024,1024",
                         "lstm:64,64,128,256",
                         "lstm_grad:64,64,128,256"};
  std::vector<EagerCase> cases;
  for (const char* name : names) cases.push_back(model_case(name));
  return cases;
}

EagerCase model_case(const std::string& name) {
  check_name(name);
  auto run = std::make_shared<std::function<Tensor()>>();
  return {.name = name, .what = name, .has_bar = false, .run = [run, name] {
            if (!*run) *run = make_run(name);
            return (*run)();
          }};
}

}  // namespace plimsoll::bench

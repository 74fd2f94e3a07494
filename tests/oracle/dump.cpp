// Writes what every case of the op table gives here, for ops_test.py to hold against TensorFlow:
//   oracle_dump FOLDER      makes FOLDER/cases.jsonl and FOLDER/data.bin
// A case is a line: op, attributes, inputs, outputs, and the gradients of sum(w * output) by the
// inputs. Arrays are {dtype, shape, offset} into data.bin.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "ops/op_case.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::testing_ops {
namespace {

using Json = nlohmann::json;

class Dump {
 public:
  explicit Dump(const std::string& folder)
      : lines_(folder + "/cases.jsonl"), data_(folder + "/data.bin", std::ios::binary) {}

  void write(const OpCase& c, DType dtype) {
    std::vector<Tensor> in;
    for (const HostTensor& host : make_inputs(c, dtype)) in.push_back(to_device(host));
    GradientTape tape;
    for (const Tensor& t : in) {
      if (is_floating(t.dtype())) tape.watch(t);
    }
    const std::vector<Tensor> out = call_all(c.op, in, c.attrs);
    Json line = {{"op", op_name(c.op)}, {"case", c.name}, {"dtype", dtype_name(dtype)}};
    line["attrs"] = attrs_json(c);
    line["in"] = arrays(in);
    line["out"] = arrays(out);
    line["tolerance"] = c.tolerance;
    if (op_def(c.op).grad && c.has_grad && dtype == DType::kFloat64)
      add_gradients(c, tape, in, out, line);
    lines_ << line.dump() << "\n";
    ++num_cases_;
  }

  int num_cases() const { return num_cases_; }

 private:
  void add_gradients(const OpCase& c, GradientTape& tape, const std::vector<Tensor>& in,
                     const std::vector<Tensor>& out, Json& line) {
    std::vector<Tensor> weights;
    Tensor sum;
    for (const Tensor& t : out) {
      if (t.dtype() != DType::kFloat64) {
        weights.emplace_back();
        continue;
      }
      weights.push_back(to_device(make_inputs(
          {.name = "w", .op = c.op, .in = {{t.shape(), 0.5, 1.5}}}, DType::kFloat64)[0]));
      const Tensor part = reduce_sum(t * weights.back());
      sum = sum.is_valid() ? sum + part : part;
    }
    const auto gradients = tape.gradient(std::span(&sum, 1), in, {}, UnconnectedGradients::kNone);
    line["weights"] = arrays(weights);
    line["grad"] = arrays(gradients);
  }

  static Json attrs_json(const OpCase& c) {
    Json made = Json::object();
    const OpInfo& info = op_info(c.op);
    for (int i = 0; i < c.attrs.size(); ++i) {
      const AttrInfo& attr = info.attrs[static_cast<std::size_t>(i)];
      const AttrValue& value = c.attrs[i];
      Json& to = made[std::string(attr.name)];
      if (attr.type == "dtype") {
        to = dtype_name(value.as_dtype());
      } else if (attr.type == "bool") {
        to = value.as_bool();
      } else if (attr.kind == AttrKind::kInts) {
        to = std::vector<std::int64_t>(value.as_ints().begin(), value.as_ints().end());
      } else if (attr.kind == AttrKind::kFloat) {
        to = value.as_float();
      } else {
        to = value.as_int();
      }
    }
    return made;
  }

  Json arrays(const std::vector<Tensor>& tensors) {
    Json list = Json::array();
    for (const Tensor& t : tensors) list.push_back(array(t));
    return list;
  }

  Json array(const Tensor& t) {
    if (!t.is_valid()) return nullptr;
    const Json made = {
        {"dtype", dtype_name(t.dtype())},
        {"shape", std::vector<std::int64_t>(t.shape().dims().begin(), t.shape().dims().end())},
        {"offset", static_cast<std::int64_t>(data_.tellp())}};
    const TensorImpl* impl = t.impl();
    if (t.nbytes()) {
      data_.write(static_cast<const char*>(impl->buffer->block.data()) + impl->offset, t.nbytes());
    }
    return made;
  }

  std::ofstream lines_, data_;
  int num_cases_ = 0;
};

// The case with what is not an ordinary number in every input, each against each: nan, infinities,
// both zeros.
OpCase with_special_values(OpCase c) {
  constexpr double kSpecial[] = {1, NAN, INFINITY, -INFINITY, 0.0, -0.0, -1};
  constexpr std::size_t kCount = std::size(kSpecial);
  c.name = "special_values";
  c.has_grad = false;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    Input& input = c.in[k];
    if (input.kind != Input::Kind::kDefault) continue;
    input.values.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(input.shape.num_elements()); ++i)
      input.values.push_back(kSpecial[(i + k * (i / kCount + 1)) % kCount]);
  }
  return c;
}

}  // namespace
}  // namespace plimsoll::testing_ops

int main(int argc, char** argv) {
  using namespace plimsoll;
  using namespace plimsoll::testing_ops;
  if (argc != 2) {
    std::fprintf(stderr, "usage: oracle_dump FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  Dump dump(argv[1]);
  std::set<OpId> seen;
  for (const OpCase& c : all_cases()) {
    for (const DType dtype : c.dtypes) dump.write(c, dtype);
    if (!seen.insert(c.op).second) continue;
    for (const DType dtype : c.dtypes) {
      if (is_floating(dtype)) dump.write(with_special_values(c), dtype);
    }
  }
  std::printf("%d cases\n", dump.num_cases());
  return 0;
}

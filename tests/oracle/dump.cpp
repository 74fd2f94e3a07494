// Writes what every case of the op table gives here, for ops_test.py to hold against TensorFlow:
//   oracle_dump FOLDER eager|function      makes FOLDER/cases.jsonl and FOLDER/data.bin
// Each case is called by itself, or traced into a function of its own and run by plan.
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
#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/ops.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::testing_ops {
namespace {

using Json = nlohmann::json;

class Dump {
 public:
  Dump(const std::string& folder, bool in_functions)
      : in_functions_(in_functions),
        lines_(folder + "/cases.jsonl"),
        data_(folder + "/data.bin", std::ios::binary) {}

  void write(const OpCase& c, DType dtype) {
    std::vector<Tensor> in;
    for (const HostTensor& host : make_inputs(c, dtype)) in.push_back(to_device(host));
    const auto body = [&](std::span<const Tensor> given) {
      return outputs_and_gradients(c, given, dtype == DType::kFloat64);
    };
    const std::vector<Tensor> all =
        in_functions_ ? function(body)(std::span<const Tensor>(in)) : body(in);
    const std::size_t num_gradients =
        op_def(c.op).grad && c.has_grad && dtype == DType::kFloat64 ? in.size() : 0;
    const std::span<const Tensor> out(all.data(), all.size() - num_gradients);
    Json line = {{"op", op_name(c.op)}, {"case", c.name}, {"dtype", dtype_name(dtype)}};
    line["attrs"] = attrs_json(c);
    line["in"] = arrays(in);
    line["out"] = arrays(out);
    line["tolerance"] = c.tolerance;
    if (num_gradients) {
      std::vector<Tensor> weights;
      for (const Tensor& t : out) weights.push_back(gradient_weights(c, {t.dtype(), t.shape()}));
      line["weights"] = arrays(weights);
      line["grad"] = arrays(std::span(all).last(num_gradients));
    }
    lines_ << line.dump() << "\n";
    ++num_cases_;
  }

  int num_cases() const { return num_cases_; }

 private:
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

  Json arrays(std::span<const Tensor> tensors) {
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

  const bool in_functions_;
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
  const std::string_view mode = argc == 3 ? argv[2] : "";
  if (mode != "eager" && mode != "function") {
    std::fprintf(stderr, "usage: oracle_dump FOLDER eager|function\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  Dump dump(argv[1], mode == "function");
  std::set<OpId> seen;
  for (const OpCase& c : all_cases()) {
    for (const DType dtype : c.dtypes) dump.write(c, dtype);
    if (!seen.insert(c.op).second) continue;
    for (const DType dtype : c.dtypes) {
      try {
        if (is_floating(dtype)) dump.write(with_special_values(c), dtype);
      } catch (const InvalidArgumentError&) {  // refused: nothing to compare
      }
    }
  }
  std::printf("%d cases\n", dump.num_cases());
  return 0;
}

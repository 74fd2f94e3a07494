#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend/gpu/dialect.h"
#include "backend/gpu/expressions.h"

namespace plimsoll::gpu {
namespace {

std::string number(double x) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{}", x);
}

}  // namespace

std::string map_source(const MapKernel& k) {
  std::string text = head(k.compute);
  std::vector<OpId> defined;
  for (const MapStep& step : k.steps) {
    if (std::ranges::find(defined, step.op) != defined.end()) continue;
    defined.push_back(step.op);
    if (step.op == OpId::Select) continue;
    const Expression& e = *find_expression(step.op);
    text += fmt::format("INLINE {} op_{}(real x, real y, real z, real a) {{ return {}; }}\n",
                        e.is_bool ? "uchar" : "real", op_name(step.op), e.text);
  }
  const bool is_strided = std::ranges::find(k.reach, FusedReach::kNot) != k.reach.end();
  text += "KERNEL void map(int64 n, Walk walk";
  for (std::size_t i = 0; i < k.out.size(); ++i)
    text += fmt::format(", GLOBAL uchar* o{0}, int64 o{0}_at", i);
  for (std::size_t i = 0; i < k.in.size(); ++i)
    text += fmt::format(", GLOBAL const uchar* i{0}, int64 i{0}_at", i);
  text += ") {\n  for (int64 i = ID; i < n; i += NUM_IDS) {\n";
  if (is_strided) {
    text +=
        "  int64 rest = i, at[3] = {0, 0, 0};\n"
        "  for (int d = 0; d < walk.rank; ++d) {\n"
        "    int64 k = rest % walk.dims[d];\n"
        "    rest /= walk.dims[d];\n";
    for (std::size_t i = 0; i < k.in.size(); ++i)
      text += fmt::format("    at[{0}] += k * walk.strides[{0}][d];\n", i);
    text += "  }\n";
  }
  for (std::size_t i = 0; i < k.in.size(); ++i) {
    const std::string index = k.reach[i] == FusedReach::kAll   ? "i"
                              : k.reach[i] == FusedReach::kOne ? "0"
                              : k.reach[i] == FusedReach::kRow ? fmt::format("i % walk.dims[{}]", i)
                                                               : fmt::format("at[{}]", i);
    text += fmt::format("  {} x{} = {};\n", compute_type(k.in[i]), i,
                        load(k.in[i], fmt::format("i{0} + i{0}_at", i), index));
  }
  for (std::size_t s = 0; s < k.steps.size(); ++s) {
    const MapStep& step = k.steps[s];
    const auto operand = [&](std::size_t o) {
      if (o >= step.operands.size()) return std::string("T(0)");
      const int given = step.operands[o];
      return given < 0 ? fmt::format("t{}", ~given) : fmt::format("x{}", given);
    };
    if (step.op == OpId::Select) {
      text += fmt::format("  real t{} = {} ? {} : {};\n", s, operand(0), operand(1), operand(2));
      continue;
    }
    text += fmt::format("  {} t{} = op_{}({}, {}, {}, T({}));\n",
                        find_expression(step.op)->is_bool ? "uchar" : "real", s, op_name(step.op),
                        operand(0), operand(1), operand(2), number(step.a));
  }
  for (std::size_t o = 0; o < k.out.size(); ++o)
    text += fmt::format("  store_{}(o{} + o{}_at, i, t{});\n", dtype_name(k.out[o]), o, o,
                        k.outputs[o]);
  return text + "  }\n}\n";
}

}  // namespace plimsoll::gpu

#include <cmath>

#include "ops/attention_inputs.h"
#include "ops/op_case.h"
#include "ops/random_stream.h"

namespace plimsoll::testing_ops {
namespace {

// The definition, one score after another; inputs of Attention begin at `first`.
class Reference {
 public:
  Reference(const RefCall& c, int first)
      : c_(c), at_(c.attrs, first), q_(in(at_.q)), k_(in(at_.k)), v_(in(at_.v)) {
    batch = q_.shape.dim(0), tq = q_.shape.dim(1), heads = q_.shape.dim(2), d = q_.shape.dim(3);
    tk = k_.shape.dim(1), dv = v_.shape.dim(3);
    group = k_.shape.dim(2) ? heads / k_.shape.dim(2) : 1;
    scale = c.attrs[attr::Attention::scale].as_float();
    rate = c.attrs[attr::Attention::rate].as_float();
    is_causal = c.attrs[attr::Attention::is_causal].as_bool();
  }
  const HostTensor& in(int i) const { return c_.in[static_cast<std::size_t>(i)]; }
  const AttentionInputs& at() const { return at_; }

  static double element(const HostTensor& t, std::int64_t a, std::int64_t b, std::int64_t c,
                        std::int64_t e) {
    return t.values[place(t.shape, a, b, c, e)];
  }
  // Of a tensor of rank 4; axes of 1 repeat.
  static std::size_t place(const Shape& s, std::int64_t a, std::int64_t b, std::int64_t c,
                           std::int64_t e) {
    const auto of = [&](int dim, std::int64_t i) { return s.dim(dim) == 1 ? 0 : i; };
    return static_cast<std::size_t>(
        ((of(0, a) * s.dim(1) + of(1, b)) * s.dim(2) + of(2, c)) * s.dim(3) + of(3, e));
  }
  std::size_t row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return static_cast<std::size_t>((b * heads + h) * tq + i);
  }

  double score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (is_causal && j > i) return -HUGE_VAL;
    if (at_.mask >= 0 && element(in(at_.mask), b, h, i, j) == 0) return -HUGE_VAL;
    double sum = 0;
    for (std::int64_t x = 0; x < d; ++x)
      sum += element(q_, b, i, h, x) * element(k_, b, j, h / group, x);
    return sum * scale + (at_.bias >= 0 ? element(in(at_.bias), b, h, i, j) : 0);
  }
  // What the dropout makes of a probability.
  double factor(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (rate == 0) return 1;
    const Stream stream(in(at_.state).values);
    const DType dtype = q_.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    const std::uint64_t number =
        row(b, h, i) * static_cast<std::uint64_t>(tk) + static_cast<std::uint64_t>(j);
    return uniform_at(stream, dtype, number) >= rate ? 1 / (1 - rate) : 0;
  }
  const HostTensor& q() const { return q_; }
  const HostTensor& k() const { return k_; }
  const HostTensor& v() const { return v_; }

  std::int64_t batch, tq, tk, heads, d, dv, group;
  double scale, rate;
  bool is_causal;

 private:
  const RefCall& c_;
  AttentionInputs at_;
  const HostTensor &q_, &k_, &v_;
};

std::vector<HostTensor> attention_ref(const RefCall& c) {
  const Reference r(c, 0);
  HostTensor out{{r.batch, r.tq, r.heads, r.dv}, {}}, lse{{r.batch, r.heads, r.tq}, {}};
  out.values.resize(static_cast<std::size_t>(out.shape.num_elements()));
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      for (std::int64_t i = 0; i < r.tq; ++i) {
        std::vector<double> p(static_cast<std::size_t>(r.tk));
        double max = -HUGE_VAL, sum = 0;
        for (std::int64_t j = 0; j < r.tk; ++j)
          max = std::max(max, p[static_cast<std::size_t>(j)] = r.score(b, h, i, j));
        for (double& x : p) sum += x = max == -HUGE_VAL ? 0 : std::exp(x - max);
        lse.values.push_back(max + std::log(sum));
        for (std::int64_t j = 0; j < r.tk; ++j) {
          const double share =
              sum == 0 ? 0 : p[static_cast<std::size_t>(j)] / sum * r.factor(b, h, i, j);
          for (std::int64_t x = 0; x < r.dv; ++x) {
            out.values[Reference::place(out.shape, b, i, h, x)] +=
                share * Reference::element(r.v(), b, j, h / r.group, x);
          }
        }
      }
    }
  }
  return {out, lse};
}

// Gradients of query, key, value and bias, from the definition of each.
std::vector<HostTensor> all_gradients(const RefCall& c) {
  const Reference r(c, AttentionInputs::kGradFirst);
  std::vector<HostTensor> made{{r.q().shape, {}}, {r.k().shape, {}}, {r.v().shape, {}}};
  if (r.at().bias >= 0) made.push_back({r.in(r.at().bias).shape, {}});
  for (HostTensor& t : made) t.values.resize(static_cast<std::size_t>(t.shape.num_elements()));
  const HostTensor &dout = c.in[0], &out = c.in[1], &lse = c.in[2];
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t h = 0; h < r.heads; ++h) {
      for (std::int64_t i = 0; i < r.tq; ++i) {
        double delta = r.at().dlse >= 0 ? -r.in(r.at().dlse).values[r.row(b, h, i)] : 0;
        for (std::int64_t x = 0; x < r.dv; ++x)
          delta += Reference::element(dout, b, i, h, x) * Reference::element(out, b, i, h, x);
        for (std::int64_t j = 0; j < r.tk; ++j) {
          const double p = std::exp(r.score(b, h, i, j) - lse.values[r.row(b, h, i)]);
          const double factor = r.factor(b, h, i, j);
          const std::int64_t kv = h / r.group;
          double dp = 0;
          for (std::int64_t x = 0; x < r.dv; ++x) {
            const double slope = Reference::element(dout, b, i, h, x);
            dp += slope * Reference::element(r.v(), b, j, kv, x) * factor;
            made[2].values[Reference::place(made[2].shape, b, j, kv, x)] += p * factor * slope;
          }
          const double ds = p * (dp - delta);
          for (std::int64_t x = 0; x < r.d; ++x) {
            made[0].values[Reference::place(made[0].shape, b, i, h, x)] +=
                ds * r.scale * Reference::element(r.k(), b, j, kv, x);
            made[1].values[Reference::place(made[1].shape, b, j, kv, x)] +=
                ds * r.scale * Reference::element(r.q(), b, i, h, x);
          }
          if (made.size() > 3) made[3].values[Reference::place(made[3].shape, b, h, i, j)] += ds;
        }
      }
    }
  }
  return made;
}
std::vector<HostTensor> attention_grad_ref(const RefCall& c) {
  std::vector<HostTensor> all = all_gradients(c);
  all.resize(3);
  return all;
}
std::vector<HostTensor> attention_bias_grad_ref(const RefCall& c) {
  return {all_gradients(c)[3]};
}

// Three of four may be looked at, key 0 always: no row is without.
Input mask_of(const Shape& shape) {
  Input mask{.shape = shape, .kind = Input::Kind::kBool};
  const std::int64_t tk = shape.dim(3);
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    mask.values.push_back(i % tk == 0 || i * 7 % 4 != 1);
  return mask;
}

struct Sizes {
  const char* name;
  std::int64_t batch, tq, tk, heads, kv_heads, d, dv;
  bool is_causal = false;
  std::vector<Shape> bias = {}, mask = {};  // one or none
  double rate = 0;
  double scale = 0.5;
  bool is_large = false;
};
std::vector<Input> inputs_of(const Sizes& s) {
  std::vector<Input> in{{{s.batch, s.tq, s.heads, s.d}},
                        {{s.batch, s.tk, s.kv_heads, s.d}},
                        {{s.batch, s.tk, s.kv_heads, s.dv}}};
  if (!s.bias.empty()) in.push_back({s.bias[0]});
  if (!s.mask.empty()) in.push_back(mask_of(s.mask[0]));
  if (s.rate > 0)
    in.push_back({.shape = {2}, .kind = Input::Kind::kInt64, .values = {123456789012, -5}});
  return in;
}
void add_cases(const Sizes& s, std::vector<OpCase>& cases) {
  const bool has_bias = !s.bias.empty(), has_mask = !s.mask.empty();
  cases.push_back({.name = s.name,
                   .op = OpId::Attention,
                   .in = inputs_of(s),
                   .attrs = {s.scale, s.rate, s.is_causal, has_bias, has_mask},
                   .ref = attention_ref,
                   .dtypes = kFloatTypes,
                   .has_grad = !s.is_large && s.tk > 0,  // differences of -inf are none
                   .tolerance = 4});
  const bool has_dlse = s.batch > 1;
  const Input row{{s.batch, s.heads, s.tq}, 2, 4};
  const Input out{{s.batch, s.tq, s.heads, s.dv}, -1, 1};
  // Sums of the forward pass are float32 where the type under test is narrower.
  std::vector<Input> in{out, out, row};
  for (const Input& input : inputs_of(s)) in.push_back(input);
  if (has_dlse) in.push_back(row);
  for (const bool is_bias : {false, true}) {
    if (is_bias && !has_bias) continue;
    cases.push_back({.name = s.name,
                     .op = is_bias ? OpId::AttentionBiasGrad : OpId::AttentionGrad,
                     .in = in,
                     .attrs = {s.scale, s.rate, s.is_causal, has_bias, has_mask, has_dlse},
                     .ref = is_bias ? attention_bias_grad_ref : attention_grad_ref,
                     .has_grad = false,
                     .tolerance = s.is_large ? 64.0 : 16.0});
  }
}

}  // namespace

std::vector<OpCase> attention_cases() {
  std::vector<OpCase> cases;
  const Sizes all[] = {
      {"plain", 2, 5, 7, 2, 2, 4, 3},
      {"one", 1, 1, 1, 1, 1, 1, 1},
      {"causal", 1, 9, 9, 2, 2, 3, 5, true},
      {"causal_more_keys", 2, 4, 9, 1, 1, 3, 2, true},
      {"causal_fewer_keys", 1, 9, 4, 1, 1, 3, 2, true},
      {"grouped", 2, 4, 6, 6, 2, 3, 4, false},
      {"bias", 2, 3, 5, 2, 2, 3, 3, false, {{2, 2, 3, 5}}},
      {"bias_of_heads", 2, 3, 5, 2, 2, 3, 3, true, {{1, 2, 1, 1}}},
      {"bias_of_places", 2, 4, 5, 2, 2, 3, 3, false, {{1, 1, 4, 5}}},
      {"mask", 2, 3, 5, 2, 2, 3, 3, false, {}, {{2, 1, 3, 5}}},
      {"padding", 2, 3, 5, 2, 1, 3, 3, true, {{1, 1, 1, 5}}, {{2, 1, 1, 5}}},
      {"dropout", 2, 3, 7, 2, 2, 3, 3, false, {}, {}, 0.25},
      {"dropout_causal", 1, 6, 6, 2, 2, 3, 3, true, {{1, 2, 6, 6}}, {}, 0.5},
      {"no_queries", 2, 0, 3, 2, 2, 4, 3},
      {"no_keys", 2, 3, 0, 2, 2, 4, 3},
      {"no_batch", 0, 3, 3, 2, 2, 4, 3},
      {"tiles", 1, 53, 101, 2, 2, 20, 37, false, {}, {}, 0, 0.25, true},
      {"blocks", 1, 630, 200, 1, 1, 8, 16, true, {}, {}, 0, 0.25, true},
      {"blocks_of_groups",
       2,
       70,
       130,
       4,
       2,
       16,
       8,
       true,
       {{1, 4, 70, 130}},
       {{2, 1, 1, 130}},
       0.25,
       0.25,
       true},
  };
  for (const Sizes& s : all) add_cases(s, cases);
  // A row that may look at nothing gives zeros.
  Input mask{.shape = {1, 1, 3, 4},
             .kind = Input::Kind::kBool,
             .values = {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0}};
  cases.push_back({.name = "row_without_keys",
                   .op = OpId::Attention,
                   .in = {{{1, 3, 2, 3}}, {{1, 4, 2, 3}}, {{1, 4, 2, 2}}, mask},
                   .attrs = {0.5, 0.0, false, false, true},
                   .ref = attention_ref,
                   .dtypes = kFloatTypes,
                   .has_grad = false,
                   .tolerance = 4});
  return cases;
}

}  // namespace plimsoll::testing_ops

#include <algorithm>
#include <cmath>

#include "ops/rnn_reference.h"
#include "ops/rnn_setup.h"

namespace plimsoll::testing_ops {
namespace {

using Row = std::vector<double>;
using Size = std::size_t;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Layer {
  const RefCall& call;
  RnnSetup s;
  RnnPlaces p;
  Size batch, time, in, units, gates;

  Layer(OpId op, const RefCall& c) : call(c), s(rnn_setup(op, c.attrs)), p(rnn_places(s)) {
    const Shape& x = c.in[0].shape;
    batch = static_cast<Size>(x.dim(s.time_major ? 1 : 0));
    time = static_cast<Size>(x.dim(s.time_major ? 0 : 1));
    in = static_cast<Size>(x.dim(2));
    units = static_cast<Size>(c.in[2].shape.dim(0));
    gates = static_cast<Size>(s.num_gates());
  }
  Size row(Size b, Size t) const { return s.time_major ? t * batch + b : b * time + t; }
  Size x_row(Size b, Size step) const { return row(b, s.go_backwards ? time - 1 - step : step); }
  bool counts(Size b, Size step) const { return p.mask < 0 || value(p.mask, x_row(b, step)) != 0; }
  double value(int i, Size at) const { return call.in[static_cast<Size>(i)].values[at]; }
  Row part(int i, Size at, Size n) const {
    if (i < 0) return Row(n, 0.0);
    const auto& v = call.in[static_cast<Size>(i)].values;
    return Row(v.begin() + static_cast<std::ptrdiff_t>(at * n),
               v.begin() + static_cast<std::ptrdiff_t>((at + 1) * n));
  }
  // v times columns [from, to) of a kernel (input 1 or 2).
  Row times(const Row& v, int kernel, Size from, Size to) const {
    Row sums(to - from, 0.0);
    for (Size k = 0; k < v.size(); ++k) {
      for (Size j = from; j < to; ++j)
        sums[j - from] += v[k] * value(kernel, k * gates * units + j);
    }
    return sums;
  }
  // g, the gradients of columns [from, ..), times the transposed kernel; added.
  void add_back(const Row& g, int kernel, Size from, Row& to) const {
    for (Size k = 0; k < to.size(); ++k) {
      for (Size j = 0; j < g.size(); ++j)
        to[k] += g[j] * value(kernel, k * gates * units + from + j);
    }
  }
  double bias(Size second, Size j) const {
    return p.bias < 0 ? 0 : value(p.bias, second * gates * units + j);
  }
  HostTensor make(const Shape& shape) const {
    return {shape, Row(static_cast<Size>(shape.num_elements()), 0.0)};
  }
  Shape rows_of(std::int64_t n) const {
    return {call.in[0].shape.dim(0), call.in[0].shape.dim(1), n};
  }
};

// A step of one row: h and c change; returns what is kept.
Row take_step(const Layer& l, const Row& x, Row& h, Row& c) {
  const Size u = l.units, all = l.gates * u;
  const Row from_x = l.times(x, 1, 0, all);
  Row from_h = l.times(h, 2, 0, all), kept(static_cast<Size>(l.s.num_kept()) * u);
  const auto gate = [&](Size g, Size j) {
    const Size at = g * u + j;
    return from_x[at] + from_h[at] + l.bias(0, at) + (l.s.reset_after ? l.bias(1, at) : 0);
  };
  if (l.s.kind == RnnKind::kGru && !l.s.reset_after) {
    Row reset = h;
    for (Size j = 0; j < u; ++j) reset[j] *= sigmoid(gate(1, j));
    const Row candidate = l.times(reset, 2, 2 * u, 3 * u);
    std::copy(candidate.begin(), candidate.end(),
              from_h.begin() + static_cast<std::ptrdiff_t>(2 * u));
  }
  for (Size j = 0; j < u; ++j) {
    if (l.s.kind == RnnKind::kSimple) {
      h[j] = l.s.is_relu ? std::max(0.0, gate(0, j)) : std::tanh(gate(0, j));
    } else if (l.s.kind == RnnKind::kLstm) {
      const double i = sigmoid(gate(0, j)), f = sigmoid(gate(1, j)), g = std::tanh(gate(2, j)),
                   o = sigmoid(gate(3, j));
      c[j] = f * c[j] + i * g;
      h[j] = o * std::tanh(c[j]);
      const double all_kept[] = {i, f, g, o, c[j]};
      for (Size k = 0; k < 5; ++k) kept[k * u + j] = all_kept[k];
    } else {
      const double z = sigmoid(gate(0, j)), r = sigmoid(gate(1, j));
      const double q = from_h[2 * u + j] + (l.s.reset_after ? l.bias(1, 2 * u + j) : 0);
      const double n =
          std::tanh(from_x[2 * u + j] + l.bias(0, 2 * u + j) + (l.s.reset_after ? r * q : q));
      const double all_kept[] = {z, r, n, q};
      for (Size k = 0; k < kept.size() / u; ++k) kept[k * u + j] = all_kept[k];
      h[j] = z * h[j] + (1 - z) * n;
    }
  }
  return kept;
}

std::vector<HostTensor> forward(const Layer& l) {
  const auto u = static_cast<std::int64_t>(l.units), batch = static_cast<std::int64_t>(l.batch);
  std::vector<HostTensor> out{l.make(l.rows_of(u))};
  for (int i = 0; i < l.s.num_states(); ++i) out.push_back(l.make({batch, u}));
  const std::int64_t num_kept = l.s.num_kept() * u;
  if (l.s.keeps) out.push_back(l.make({static_cast<std::int64_t>(l.time), batch, num_kept}));
  for (Size b = 0; b < l.batch; ++b) {
    Row h = l.part(l.p.h, b, l.units), c = l.part(l.p.c, b, l.units), y(l.units, 0.0);
    for (Size t = 0; t < l.time; ++t) {
      Row kept(static_cast<Size>(num_kept), 0.0);
      if (l.counts(b, t)) {
        kept = take_step(l, l.part(0, l.x_row(b, t), l.in), h, c);
        y = h;
      } else {
        if (l.s.zero_output_for_mask) y.assign(l.units, 0.0);
        if (l.s.kind == RnnKind::kLstm) std::copy(c.rbegin(), c.rend(), kept.rbegin());
      }
      const auto put = [](HostTensor& to, Size row, const Row& v) {
        std::copy(v.begin(), v.end(),
                  to.values.begin() + static_cast<std::ptrdiff_t>(row * v.size()));
      };
      put(out[0], l.row(b, t), y);
      if (l.s.keeps) put(out.back(), t * l.batch + b, kept);
      if (t + 1 < l.time) continue;
      put(out[1], b, h);
      if (l.s.num_states() > 1) put(out[2], b, c);
    }
  }
  return out;
}

// The gradients of the sums that the kernel and the recurrent kernel make, and what the latter was
// multiplied with for the candidate.
struct Back {
  Row by_x, by_h, candidate_h;
};

// dh, dc: of the state after the step; then of that before, but for what goes through by_h.
Back step_back(const Layer& l, const Row& kept, const Row& h, const Row& c, const Row& y, Row& dh,
               Row& dc) {
  const Size u = l.units;
  Back back{Row(l.gates * u), Row(l.gates * u), h};
  Row& g = back.by_x;
  const auto k = [&](Size gate, Size j) { return kept[gate * u + j]; };
  const auto slope = [](double s) { return s * (1 - s); };
  for (Size j = 0; j < u; ++j) {
    if (l.s.kind == RnnKind::kSimple) {
      g[j] = dh[j] * (l.s.is_relu ? (y[j] > 0 ? 1 : 0) : 1 - y[j] * y[j]);
      dh[j] = 0;
    } else if (l.s.kind == RnnKind::kLstm) {
      const double t = std::tanh(k(4, j)), d = dc[j] + dh[j] * k(3, j) * (1 - t * t);
      g[j] = d * k(2, j) * slope(k(0, j));
      g[u + j] = d * c[j] * slope(k(1, j));
      g[2 * u + j] = d * k(0, j) * (1 - k(2, j) * k(2, j));
      g[3 * u + j] = dh[j] * t * slope(k(3, j));
      dc[j] = d * k(1, j);
      dh[j] = 0;
    } else {
      g[j] = dh[j] * (h[j] - k(2, j)) * slope(k(0, j));
      g[2 * u + j] = dh[j] * (1 - k(0, j)) * (1 - k(2, j) * k(2, j));
      if (l.s.reset_after) g[u + j] = g[2 * u + j] * k(3, j) * slope(k(1, j));
      dh[j] *= k(0, j);
    }
  }
  back.by_h = g;
  if (l.s.kind != RnnKind::kGru) return back;
  const Row candidate(g.begin() + static_cast<std::ptrdiff_t>(2 * u), g.end());
  Row dreset(u, 0.0);
  if (!l.s.reset_after) l.add_back(candidate, 2, 2 * u, dreset);
  for (Size j = 0; j < u; ++j) {
    if (l.s.reset_after) {
      back.by_h[2 * u + j] *= k(1, j);
    } else {
      g[u + j] = back.by_h[u + j] = dreset[j] * h[j] * slope(k(1, j));
      dh[j] += dreset[j] * k(1, j);
      back.candidate_h[j] = h[j] * k(1, j);
    }
  }
  return back;
}

struct Gradients {
  HostTensor x, kernel, recurrent, bias, h, c;
};

void add_weights(const Layer& l, const Row& x, const Row& h, const Back& back, Gradients& to) {
  const Size all = l.gates * l.units;
  for (Size j = 0; j < all; ++j) {
    for (Size k = 0; k < l.in; ++k) to.kernel.values[k * all + j] += x[k] * back.by_x[j];
    const Row& left = l.s.kind == RnnKind::kGru && j >= 2 * l.units ? back.candidate_h : h;
    for (Size k = 0; k < l.units; ++k) to.recurrent.values[k * all + j] += left[k] * back.by_h[j];
    to.bias.values[j] += back.by_x[j];
    if (l.s.reset_after) to.bias.values[all + j] += back.by_h[j];
  }
}

void row_back(const Layer& l, Size b, Gradients& to) {
  const Size u = l.units;
  Row dh = l.part(l.p.dh, b, u), dc = l.part(l.p.dc, b, u), waiting(u, 0.0);
  for (Size t = l.time; t-- > 0;) {
    const Row dy = l.part(l.p.dy, l.row(b, t), u);
    if (!l.counts(b, t)) {  // the output was that of a step before
      for (Size j = 0; j < u && !l.s.zero_output_for_mask; ++j) waiting[j] += dy[j];
      continue;
    }
    for (Size j = 0; j < u; ++j) dh[j] += dy[j] + waiting[j];
    waiting.assign(u, 0.0);
    Size before = t;
    while (before > 0 && !l.counts(b, before - 1)) --before;
    const Row h = before > 0 ? l.part(l.p.y, l.row(b, before - 1), u) : l.part(l.p.h, b, u);
    const auto width = static_cast<Size>(l.s.num_kept()) * u;
    Row c = l.part(l.p.c, b, u);
    if (t > 0 && l.s.kind == RnnKind::kLstm) {
      const Row last = l.part(l.p.kept, (t - 1) * l.batch + b, width);
      c.assign(last.end() - static_cast<std::ptrdiff_t>(u), last.end());
    }
    const Row kept = width ? l.part(l.p.kept, t * l.batch + b, width) : Row();
    const Back back = step_back(l, kept, h, c, l.part(l.p.y, l.row(b, t), u), dh, dc);
    const Row by_h(
        back.by_h.begin(),
        back.by_h.begin() + static_cast<std::ptrdiff_t>(
                                (l.s.kind == RnnKind::kGru && !l.s.reset_after ? 2 : l.gates) * u));
    l.add_back(by_h, 2, 0, dh);
    const Size row = l.x_row(b, t);
    Row dx(l.in, 0.0);
    l.add_back(back.by_x, 1, 0, dx);
    std::copy(dx.begin(), dx.end(), to.x.values.begin() + static_cast<std::ptrdiff_t>(row * l.in));
    add_weights(l, l.part(0, row, l.in), h, back, to);
  }
  std::copy(dh.begin(), dh.end(), to.h.values.begin() + static_cast<std::ptrdiff_t>(b * u));
  std::copy(dc.begin(), dc.end(), to.c.values.begin() + static_cast<std::ptrdiff_t>(b * u));
}

std::vector<HostTensor> backward(const Layer& l) {
  const auto u = static_cast<std::int64_t>(l.units), all = u * l.s.num_gates();
  const Shape state{static_cast<std::int64_t>(l.batch), u};
  Gradients made{l.make(l.call.in[0].shape),
                 l.make(l.call.in[1].shape),
                 l.make(l.call.in[2].shape),
                 l.make(l.s.reset_after ? Shape{2, all} : Shape{all}),
                 l.make(state),
                 l.make(state)};
  for (Size b = 0; b < l.batch; ++b) row_back(l, b, made);
  std::vector<HostTensor> out;
  const auto give = [&](int place, HostTensor& t) {
    if (place >= 0) out.push_back(std::move(t));
  };
  give(l.p.dx, made.x);
  give(l.p.dkernel, made.kernel);
  give(l.p.drecurrent, made.recurrent);
  give(l.p.dbias, made.bias);
  give(l.p.dh0, made.h);
  give(l.p.dc0, made.c);
  return out;
}

}  // namespace

std::vector<HostTensor> rnn_reference(OpId op, const RefCall& call) {
  const Layer l(op, call);
  return l.s.is_grad ? backward(l) : forward(l);
}

}  // namespace plimsoll::testing_ops

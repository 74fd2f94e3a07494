// Sums of products along named dimensions: permutations, matmul, and diagonals where a label stands
// twice in one place.
#include "base/check.h"
#include "plimsoll/ops/elementwise.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/shape.h"
#include "runtime/einsum_equation.h"

namespace plimsoll {
namespace {

using namespace einsum_detail;
using Dims = std::vector<std::int64_t>;

Operand permuted(const Operand& from, const Labels& order) {
  if (from.labels == order) return from;
  Dims perm;
  for (const int label : order)
    perm.push_back(std::find(from.labels.begin(), from.labels.end(), label) - from.labels.begin());
  return {transpose(from.tensor, perm), order};
}

// Each label once: of those that stand twice, the diagonal.
Operand without_repeats(Operand o) {
  for (std::size_t i = 0; i < o.labels.size(); ++i) {
    const auto again = std::find(o.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                 o.labels.end(), o.labels[i]);
    if (again == o.labels.end()) continue;
    const auto second = again - o.labels.begin(), first = static_cast<std::ptrdiff_t>(i);
    Dims perm;
    Labels rest;
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(o.labels.size()); ++k) {
      if (k == first || k == second) continue;
      perm.push_back(k);
      rest.push_back(o.labels[static_cast<std::size_t>(k)]);
    }
    perm.insert(perm.end(), {first, second});
    rest.push_back(o.labels[i]);
    return without_repeats({linalg::diag_part(transpose(o.tensor, perm)), rest});
  }
  return o;
}

// Only what is kept, in the order it has.
Operand summed(const Operand& o, const Labels& kept) {
  Axes axes;
  Labels rest;
  for (std::size_t i = 0; i < o.labels.size(); ++i) {
    if (has(kept, o.labels[i])) {
      rest.push_back(o.labels[i]);
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  return axes.empty() ? o : Operand{reduce_sum(o.tensor, axes), rest};
}

// The labels of a pair by what becomes of them.
struct Pair {
  Labels batch, a_free, b_free, inner;
  std::int64_t batch_size = 1, a_size = 1, b_size = 1, inner_size = 1;

  Pair(const Operand& a, const Operand& b, const Labels& kept) {
    for (const int label : a.labels) {
      const bool both = has(b.labels, label);
      (!both ? a_free : has(kept, label) ? batch : inner).push_back(label);
      (!both ? a_size : has(kept, label) ? batch_size : inner_size) *= a.dim(label);
    }
    for (const int label : b.labels) {
      if (has(a.labels, label)) continue;
      b_free.push_back(label);
      b_size *= b.dim(label);
    }
  }
  std::int64_t result_size() const { return batch_size * a_size * b_size; }
};

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// As [batch, free, inner], or, if it stands so already, [batch, inner, free].
struct Matrices {
  Tensor tensor;
  bool inner_last;
};
Matrices as_matrices(const Operand& o, const Pair& p, const Labels& free, std::int64_t free_size) {
  const bool inner_last = o.labels != joined({p.batch, p.inner, free});
  const Operand ordered = inner_last ? permuted(o, joined({p.batch, free, p.inner})) : o;
  const Dims dims = inner_last ? Dims{p.batch_size, free_size, p.inner_size}
                               : Dims{p.batch_size, p.inner_size, free_size};
  return {reshape(ordered.tensor, p.batch.empty() ? std::span(dims).subspan(1) : std::span(dims)),
          inner_last};
}

Operand contract(const Operand& left, const Operand& right, const Labels& kept) {
  const auto with = [&](const Labels& other) { return joined({kept, other}); };
  const Operand a = summed(left, with(right.labels)), b = summed(right, with(left.labels));
  const Pair p(a, b, kept);
  Tensor product;
  if (p.inner.empty()) {
    const Operand x = permuted(a, joined({p.batch, p.a_free}));
    const Operand y = permuted(b, joined({p.batch, p.b_free}));
    product = reshape(x.tensor, {p.batch_size, p.a_size, 1}) *
              reshape(y.tensor, {p.batch_size, 1, p.b_size});
  } else {
    const Matrices x = as_matrices(a, p, p.a_free, p.a_size);
    const Matrices y = as_matrices(b, p, p.b_free, p.b_size);
    product =
        matmul(x.tensor, y.tensor, {.transpose_a = !x.inner_last, .transpose_b = y.inner_last});
  }
  const Labels labels = joined({p.batch, p.a_free, p.b_free});
  Dims dims;
  for (const int label : labels) dims.push_back(has(a.labels, label) ? a.dim(label) : b.dim(label));
  return {reshape(product, dims), labels};
}

// The pair whose product takes the least more than what it replaces.
std::pair<std::size_t, std::size_t> cheapest_pair(const std::vector<Operand>& operands,
                                                  const std::vector<Labels>& kept_of_all) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  double least = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      const Pair p(operands[i], operands[j], kept_of_all[i * operands.size() + j]);
      const double cost = static_cast<double>(p.result_size()) -
                          static_cast<double>(operands[i].tensor.num_elements() +
                                              operands[j].tensor.num_elements());
      if ((i == 0 && j == 1) || cost < least) {
        least = cost;
        best = {i, j};
      }
    }
  }
  return best;
}

// What the output and the operands but i and j ask for.
Labels kept_without(const std::vector<Operand>& operands, const Labels& out, std::size_t i,
                    std::size_t j) {
  Labels kept = out;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (k != i && k != j)
      kept.insert(kept.end(), operands[k].labels.begin(), operands[k].labels.end());
  }
  return kept;
}

// The labels of the output, of which some may stand twice: on a diagonal.
Tensor arranged(const Operand& result, const Labels& out) {
  Labels once;
  for (const int label : out) {
    if (!has(once, label)) once.push_back(label);
  }
  Operand made = permuted(result, once);
  Labels left = out;
  for (const int label : once) left.erase(std::find(left.begin(), left.end(), label));
  for (std::size_t k = 0; k < left.size(); ++k) {  // a copy of the label goes last
    const int copy = 1000 + static_cast<int>(k);
    Labels order;
    for (const int label : made.labels) {
      if (label != left[k]) order.push_back(label);
    }
    order.push_back(left[k]);
    made = {linalg::diag(permuted(made, order).tensor), joined({order, {copy}})};
  }
  Labels wanted;
  std::size_t num_copies = 0;
  for (const int label : out) {
    if (!has(wanted, label)) {
      wanted.push_back(label);
      continue;
    }
    // Copies were made in this order.
    wanted.push_back(1000 + static_cast<int>(num_copies++));
  }
  return permuted(made, wanted).tensor;
}

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> inputs) {
  Equation e(equation, inputs);
  std::vector<Operand>& operands = e.operands;
  for (Operand& o : operands) o = without_repeats(std::move(o));
  while (operands.size() > 1) {
    const std::size_t n = operands.size();
    std::vector<Labels> kept(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) kept[i * n + j] = kept_without(operands, e.out, i, j);
    }
    const auto [i, j] = cheapest_pair(operands, kept);
    operands[i] = contract(operands[i], operands[j], kept[i * n + j]);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return arranged(summed(operands[0], e.out), e.out);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& a_axes, const Axes& b_axes) {
  PLIMSOLL_CHECK(a.is_valid() && b.is_valid(), InvalidArgumentError,
                 "tensordot got an empty Tensor");
  PLIMSOLL_CHECK(a_axes.size() == b_axes.size(), InvalidArgumentError,
                 "Different number of contraction axes 'a' and 'b', {} != {}.", a_axes.size(),
                 b_axes.size());
  Operand x{a, {}}, y{b, {}};
  for (int i = 0; i < a.rank(); ++i) x.labels.push_back(i);
  for (int i = 0; i < b.rank(); ++i) y.labels.push_back(kMaxRank + i);
  for (std::size_t i = 0; i < a_axes.size(); ++i) {
    const int at = normalize_axis(a_axes[i], a.rank(), "tensordot");
    const int bt = normalize_axis(b_axes[i], b.rank(), "tensordot");
    int& label = y.labels[static_cast<std::size_t>(bt)];
    PLIMSOLL_CHECK(label == kMaxRank + bt && !has(y.labels, at), InvalidArgumentError,
                   "tensordot: axes {} and {} are there twice", a_axes[i], b_axes[i]);
    PLIMSOLL_CHECK(
        a.shape()[at] == b.shape()[bt], InvalidArgumentError,
        "Matrix size-incompatible: In[0]: {}, In[1]: {}: axis {} and axis {} [Op:tensordot]",
        a.shape().to_string(), b.shape().to_string(), a_axes[i], b_axes[i]);
    label = at;
  }
  Labels out;
  for (const int label : x.labels) {
    if (!has(y.labels, label)) out.push_back(label);
  }
  for (const int label : y.labels) {
    if (!has(x.labels, label)) out.push_back(label);
  }
  return contract(x, y, out).tensor;
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t axes) {
  PLIMSOLL_CHECK(a.is_valid() && b.is_valid(), InvalidArgumentError,
                 "tensordot got an empty Tensor");
  PLIMSOLL_CHECK(axes >= 0 && axes <= a.rank() && axes <= b.rank(), InvalidArgumentError,
                 "`axes` must be at least 0 and not larger than the number of dimensions of "
                 "tensors {} and {}. Received: {}",
                 a.shape().to_string(), b.shape().to_string(), axes);
  Axes of_a, of_b;
  for (std::int64_t i = 0; i < axes; ++i) {
    of_a.push_back(a.rank() - axes + i);
    of_b.push_back(i);
  }
  return tensordot(a, b, of_a, of_b);
}

}  // namespace plimsoll

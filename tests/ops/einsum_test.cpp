// einsum and tensordot against loops over all labels.
#include <gtest/gtest.h>

#include <map>

#include "ops/differences.h"
#include "ops/error_text.h"

namespace plimsoll::testing_ops {
namespace {

// Loops over every value of every letter. No "...".
HostTensor by_loops(const std::vector<std::string>& labels, const std::string& out,
                    const std::vector<HostTensor>& in) {
  std::map<char, std::int64_t> sizes, at;
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::size_t k = 0; k < labels[i].size(); ++k)
      sizes[labels[i][k]] = in[i].shape.dim(static_cast<int>(k));
  std::vector<std::int64_t> dims;
  for (const char c : out) dims.push_back(sizes[c]);
  HostTensor made{Shape(dims), {}};
  made.values.resize(static_cast<std::size_t>(made.shape.num_elements()));
  const auto place = [&](const std::string& of) {
    std::int64_t k = 0;
    for (const char c : of) k = k * sizes[c] + at[c];
    return static_cast<std::size_t>(k);
  };
  std::int64_t total = 1;
  for (const auto& [c, size] : sizes) total *= size;
  for (std::int64_t step = 0; step < total; ++step) {
    std::int64_t rest = step;
    for (const auto& [c, size] : sizes) {
      at[c] = rest % size;
      rest /= size;
    }
    double product = 1;
    for (std::size_t i = 0; i < in.size(); ++i) product *= in[i].values[place(labels[i])];
    made.values[place(out)] += product;
  }
  return made;
}

struct Call {
  std::string name, equation;
  std::vector<std::string> labels;  // and those of the output: the equation without "..."
  std::string out;
  std::vector<Shape> shapes;
};

class EinsumTest : public testing::TestWithParam<Call> {};

TEST_P(EinsumTest, MatchesLoops) {
  const Call& c = GetParam();
  std::vector<HostTensor> in;
  std::vector<Tensor> tensors;
  for (const Shape& s : c.shapes) {
    in.push_back(numbers(s, in.size() + 1));
    tensors.push_back(to_device(in.back()));
  }
  expect_values(einsum(c.equation, tensors), by_loops(c.labels, c.out, in));
  expect_gradients([&](const std::vector<Tensor>& given) { return einsum(c.equation, given); }, in);
}

const Call kCalls[] = {
    {"matmul", "ij,jk->ik", {"ij", "jk"}, "ik", {{3, 4}, {4, 2}}},
    {"matmul_transposed", "ji,kj->ik", {"ji", "kj"}, "ik", {{4, 3}, {2, 4}}},
    {"other_order", "ij,jk->ki", {"ij", "jk"}, "ki", {{3, 4}, {4, 2}}},
    {"batch", "bij,bjk->bik", {"bij", "bjk"}, "bik", {{2, 3, 4}, {2, 4, 5}}},
    {"attention", "bqhd,bkhd->bhqk", {"bqhd", "bkhd"}, "bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
    {"outer", "i,j->ij", {"i", "j"}, "ij", {{3}, {4}}},
    {"inner", "i,i->", {"i", "i"}, "", {{5}, {5}}},
    {"elementwise", "ij,ij->ij", {"ij", "ij"}, "ij", {{2, 3}, {2, 3}}},
    {"scalar", ",ij->ji", {"", "ij"}, "ji", {{}, {2, 3}}},
    {"two_contracted", "ijk,kjl->il", {"ijk", "kjl"}, "il", {{2, 3, 4}, {4, 3, 2}}},
    {"sum", "ijk->j", {"ijk"}, "j", {{2, 3, 4}}},
    {"sum_of_all", "ij->", {"ij"}, "", {{2, 3}}},
    {"transpose", "ijk->kij", {"ijk"}, "kij", {{2, 3, 4}}},
    {"summed_alone", "ijx,jk->ik", {"ijx", "jk"}, "ik", {{2, 3, 2}, {3, 4}}},
    {"diagonal", "ii->i", {"ii"}, "i", {{4, 4}}},
    {"trace", "ii->", {"ii"}, "", {{4, 4}}},
    {"batched_diagonal", "ibi->bi", {"ibi"}, "bi", {{3, 2, 3}}},
    {"cube", "iii->i", {"iii"}, "i", {{3, 3, 3}}},
    {"on_diagonal", "i->ii", {"i"}, "ii", {{4}}},
    {"on_diagonals", "ij->jiij", {"ij"}, "jiij", {{2, 3}}},
    {"three", "ij,jk,kl->il", {"ij", "jk", "kl"}, "il", {{2, 3}, {3, 4}, {4, 2}}},
    {"four", "a,ab,bc,c->", {"a", "ab", "bc", "c"}, "", {{3}, {3, 2}, {2, 4}, {4}}},
    {"label_in_three", "i,i,i->i", {"i", "i", "i"}, "i", {{4}, {4}, {4}}},
    {"implicit", "ba,bc", {"ba", "bc"}, "ac", {{2, 3}, {2, 4}}},
    {"implicit_trace", "ii", {"ii"}, "", {{3, 3}}},
    {"spaces", " i j , j k -> i k ", {"ij", "jk"}, "ik", {{3, 4}, {4, 2}}},
    {"capitals", "aA,Ab->ab", {"aA", "Ab"}, "ab", {{3, 4}, {4, 2}}},
    {"ellipsis", "...ij,...jk->...ik", {"xij", "xjk"}, "xik", {{2, 3, 4}, {2, 4, 2}}},
    {"ellipsis_spread", "...ij,jk->...ik", {"xyij", "jk"}, "xyik", {{2, 2, 3, 4}, {4, 2}}},
    {"ellipsis_of_one", "...ij,...jk->...ik", {"yij", "xjk"}, "xik", {{1, 3, 4}, {2, 4, 2}}},
    {"ellipsis_between", "i...j->j...", {"ixj"}, "jx", {{2, 3, 4}}},
    {"implicit_ellipsis", "...ij,...jk", {"xij", "xjk"}, "xik", {{2, 3, 4}, {2, 4, 2}}},
    {"nothing", "ij,jk->ik", {"ij", "jk"}, "ik", {{0, 3}, {3, 2}}},
    {"nothing_summed", "ij,jk->ik", {"ij", "jk"}, "ik", {{2, 0}, {0, 3}}},
};
INSTANTIATE_TEST_SUITE_P(All, EinsumTest, testing::ValuesIn(kCalls),
                         [](const auto& test) { return test.param.name; });

TEST(EinsumErrorsTest, RepeatTheEquation) {
  const Tensor a = ones({2, 2}), b = ones({3, 2});
  EXPECT_INVALID(einsum("ij,jk", {a}), "Got 1 inputs for equation \"ij,jk\", expecting 2");
  EXPECT_INVALID(einsum("ij,jk->im", {a, a}),
                 "Output subscripts contain the label m not present in the input subscripts");
  EXPECT_INVALID(einsum("ij,jk->ik", {a, b}),
                 "Expected dimension 2 at axis 0 of the input shaped [3,2] but got dimension 3");
  EXPECT_INVALID(einsum("ijk->i", {a}), "Expected input 0 to have rank 3 but got: 2");
  EXPECT_INVALID(einsum("ijk...->i", {a}), "Expected input 0 to have rank at least 3 but got: 2");
  EXPECT_INVALID(einsum("i1->i", {a}), "Subscripts must be letters or an ellipsis, got '1'");
  EXPECT_INVALID(einsum("i..->i", {a}), "Subscripts contain more than one ellipsis");
  EXPECT_INVALID(einsum("......->i", {a}), "Subscripts contain more than one ellipsis");
  EXPECT_INVALID(einsum("i->i", {Tensor()}), "einsum got an empty Tensor");
}

TEST(TensordotTest, MatchesLoops) {
  const HostTensor a = numbers({2, 3, 4}, 1), b = numbers({3, 4, 2}, 2), c = numbers({4, 2, 3}, 3);
  const Tensor x = to_device(a), y = to_device(b), z = to_device(c);
  expect_values(tensordot(x, y, 2), by_loops({"ijk", "jkl"}, "il", {a, b}));
  expect_values(tensordot(x, y, 0), by_loops({"ijk", "lmn"}, "ijklmn", {a, b}));
  expect_values(tensordot(x, z, {1, 2}, {2, 0}), by_loops({"ijk", "klj"}, "il", {a, c}));
  expect_values(tensordot(x, z, {-1}, {0}), by_loops({"ijk", "klm"}, "ijlm", {a, c}));
  expect_gradients([](const std::vector<Tensor>& in) { return tensordot(in[0], in[1], {0}, {1}); },
                   {a, c});
}

TEST(TensordotTest, Errors) {
  const Tensor a = ones({2, 3});
  EXPECT_INVALID(tensordot(a, a, 1), "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
  EXPECT_INVALID(tensordot(a, a, 3), "`axes` must be at least 0 and not larger than");
  EXPECT_INVALID(tensordot(a, a, -1), "`axes` must be at least 0 and not larger than");
  EXPECT_INVALID(tensordot(a, a, {0}, {0, 1}), "Different number of contraction axes");
  EXPECT_INVALID(tensordot(a, a, {0, 0}, {0, 0}), "tensordot: axes 0 and 0 are there twice");
}

}  // namespace
}  // namespace plimsoll::testing_ops

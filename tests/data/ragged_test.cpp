// Ragged and sparse tensors.
#include "plimsoll/ragged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plimsoll/data/io.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/sparse.h"
#include "runtime/context.h"

namespace plimsoll {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor numbers(const Ints& values) {
  return constant(std::span<const std::int64_t>(values),
                  {static_cast<std::int64_t>(values.size())});
}
std::uint64_t in_use() {
  return Context::get().cpu().budget().in_use();
}

TEST(RaggedTest, SplitsThatDoNotFit) {
  const Tensor values = range(0, 3);
  EXPECT_EQ(RaggedTensor::from_row_splits(values, numbers({0, 2, 2, 3})).nrows(), 3);
  for (const Ints& bad : {Ints{}, Ints{1, 3}, Ints{0, 2}, Ints{0, 4}, Ints{0, 2, 1, 3}, Ints{3}})
    EXPECT_THROW(RaggedTensor::from_row_splits(values, numbers(bad)), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_row_splits(constant(1), numbers({0, 1})), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_row_splits(values, constant({0.0F, 3.0F})), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_row_splits(values, reshape(numbers({0, 3}), {1, 2})),
               InvalidArgumentError);
  EXPECT_THROW(RaggedTensor(values, {}), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor(Tensor(), {numbers({0})}), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor(values, {numbers({0, 2}), numbers({0, 3})}), InvalidArgumentError);
  EXPECT_THROW(RaggedTensor::from_row_lengths(values, numbers({4, -1})), InvalidArgumentError);
}

// Each element of the dense tensor, looked up one by one.
TEST(RaggedTest, DenseHasEveryValueInItsPlace) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    Ints lengths;
    std::int64_t sum = 0;
    for (std::size_t n = random() % 6; n > 0; --n) sum += lengths.emplace_back(random() % 5);
    const RaggedTensor rows =
        RaggedTensor::from_row_lengths(range(std::int64_t{0}, sum, 1, int64), numbers(lengths));
    EXPECT_EQ(rows.row_lengths().to_vector<std::int64_t>(), lengths);
    const std::int64_t height = static_cast<std::int64_t>(random() % 7), width = random() % 6;
    const Tensor dense = rows.to_tensor(constant(std::int64_t{-1}), Ints{height, width});
    const Ints made = dense.to_vector<std::int64_t>();
    for (std::int64_t r = 0, first = 0; r < height; ++r) {
      const bool is_there = r < static_cast<std::int64_t>(lengths.size());
      const std::int64_t length = is_there ? lengths[static_cast<std::size_t>(r)] : 0;
      for (std::int64_t c = 0; c < width; ++c)
        EXPECT_EQ(made[static_cast<std::size_t>(r * width + c)], c < length ? first + c : -1);
      first += length;
    }
  }
}

TEST(RaggedTest, ADenseOneThatDoesNotFitIsRefused) {
  const RaggedTensor rows = RaggedTensor::from_row_lengths(range(0, 3), numbers({3}));
  const std::uint64_t before = in_use();
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(rows.to_tensor({}, Ints{huge, -1}), ResourceExhaustedError);
  EXPECT_THROW(rows.to_tensor({}, Ints{std::int64_t{1} << 62, 4}), InvalidArgumentError);
  EXPECT_THROW(rows.to_tensor(constant(1.0F)), InvalidArgumentError);
  EXPECT_EQ(in_use(), before);
}

TEST(SparseTest, ComesBackDense) {
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    std::vector<float> values(24);
    for (float& value : values) value = random() % 3 ? 0.0F : static_cast<float>(random() % 9);
    const Tensor dense = constant(std::span<const float>(values), {2, 3, 4});
    const SparseTensor sparse = sparse::from_dense(dense);
    EXPECT_EQ(sparse.values.num_elements(), 24 - std::ranges::count(values, 0.0F));
    EXPECT_EQ(sparse::to_dense(sparse).to_vector<float>(), values);
  }
}

TEST(SparseTest, PartsThatDoNotFit) {
  const auto make = [](const Ints& indices, const Ints& dims, std::int64_t num, const Ints& shape) {
    return SparseTensor{reshape(numbers(indices), std::span<const std::int64_t>(dims)),
                        range(0, static_cast<int>(num)), numbers(shape)};
  };
  EXPECT_NO_THROW(make({0, 1}, {1, 2}, 1, {3, 3}).check());
  EXPECT_THROW(make({0, 1}, {1, 2}, 2, {3, 3}).check(), InvalidArgumentError);
  EXPECT_THROW(make({0, 1}, {1, 2}, 1, {3}).check(), InvalidArgumentError);
  EXPECT_THROW(make({0, 1}, {2}, 2, {3}).check(), InvalidArgumentError);
  EXPECT_THROW(make({0}, {1, 1}, 1, {-3}).check(), InvalidArgumentError);
  EXPECT_THROW((SparseTensor{constant({0}, {1, 1}), range(0, 1), numbers({3})}).check(),
               InvalidArgumentError);
  const std::uint64_t before = in_use();
  EXPECT_THROW(sparse::to_dense(make({0, 0}, {1, 2}, 1, {1LL << 40, 4})), ResourceExhaustedError);
  EXPECT_THROW(sparse::to_dense(make({0, 0}, {1, 2}, 1, {1LL << 62, 4})), InvalidArgumentError);
  EXPECT_LE(in_use(), before);
}

TEST(SparseTest, FeaturesOfAnyLength) {
  const std::vector<std::string> texts = {io::serialize_example({{"n", io::Int64List{1, 2}}}),
                                          io::serialize_example({}),
                                          io::serialize_example({{"n", io::Int64List{3}}})};
  const Nest<Tensor> parsed =
      io::parse_example(constant(std::span<const std::string>(texts), {3}),
                        {{"n", io::VarLenFeature{int64}}, {"r", io::RaggedFeature{int64, "n"}}});
  const Nest<Tensor>& found = *parsed.find("n");
  const SparseTensor sparse{found.find("indices")->leaf(), found.find("values")->leaf(),
                            found.find("dense_shape")->leaf()};
  EXPECT_EQ(sparse::to_dense(sparse, constant(std::int64_t{-1})).to_vector<std::int64_t>(),
            (Ints{1, 2, -1, -1, 3, -1}));
  const Nest<Tensor>& rows = *parsed.find("r");
  EXPECT_EQ(
      RaggedTensor::from_row_splits(rows.find("values")->leaf(), rows.find("row_splits")->leaf())
          .to_tensor()
          .to_vector<std::int64_t>(),
      (Ints{1, 2, 0, 0, 3, 0}));
  EXPECT_THROW(io::parse_example(constant(texts[0]), {{"n", io::VarLenFeature{float32}}}),
               InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll

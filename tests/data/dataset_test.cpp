// Datasets: what they give, in which order, and what they hold meanwhile.
#include "plimsoll/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "data/node.h"
#include "plimsoll/device.h"
#include "plimsoll/error.h"
#include "plimsoll/interop.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll::data {
namespace {

using Ints = std::vector<std::int64_t>;

Ints ints_of(const Tensor& t) {
  const Tensor wide = cast(t, int64);
  return wide.to_vector<std::int64_t>();
}
// All elements of a dataset of integers, one after the other.
Ints all_of(const Dataset& dataset) {
  Ints all;
  for (const Element& element : dataset) {
    for (const std::int64_t v : ints_of(element.leaf())) all.push_back(v);
  }
  return all;
}
// How many rows each batch has.
Ints sizes_of(const Dataset& dataset) {
  Ints sizes;
  for (const Element& element : dataset) sizes.push_back(element[0].leaf().shape()[0]);
  return sizes;
}
Ints count_to(std::int64_t n, std::int64_t from = 0) {
  Ints numbers(static_cast<std::size_t>(n - from));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}
Ints sorted(Ints values) {
  std::ranges::sort(values);
  return values;
}
Dataset rows(std::int64_t n) {
  return Dataset::from_tensor_slices(plimsoll::range(0, n));
}
std::uint64_t held() {
  return memory::stats().by_tag[static_cast<std::size_t>(memory::Tag::kDataset)];
}

TEST(DatasetTest, SlicesAndBatches) {
  const Tensor x = reshape(plimsoll::range(0, 14), {7, 2}), y = plimsoll::range(7);
  const Dataset dataset = Dataset::from_tensor_slices({x, y});
  EXPECT_EQ(dataset.cardinality(), 7);
  std::int64_t row = 0;
  for (const Element& element : dataset) {
    EXPECT_EQ(ints_of(element[0].leaf()), (Ints{2 * row, 2 * row + 1}));
    EXPECT_EQ(element[1].leaf().rank(), 0);
    EXPECT_EQ(ints_of(element[1].leaf()), Ints{row++});
  }
  EXPECT_EQ(row, 7);
  EXPECT_EQ(sizes_of(dataset.batch(3)), (Ints{3, 3, 1}));
  EXPECT_EQ(sizes_of(dataset.batch(3, {.drop_remainder = true})), (Ints{3, 3}));
  EXPECT_EQ(sizes_of(dataset.batch(9)), (Ints{7}));
  EXPECT_EQ(sizes_of(dataset.batch(9, {.drop_remainder = true})), Ints{});
  EXPECT_EQ(dataset.batch(3).cardinality(), 3);
  EXPECT_EQ(dataset.batch(3, {.drop_remainder = true}).cardinality(), 2);
}

TEST(DatasetTest, BatchesOfBatches) {
  const Dataset twos = rows(12).batch(2).batch(3);
  std::vector<Shape> shapes;
  for (const Element& element : twos) shapes.push_back(element.leaf().shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{3, 2}, {3, 2}}));
  EXPECT_THROW(all_of(rows(7).batch(2).batch(4)), InvalidArgumentError);  // 2, 2, 2 and 1
}

TEST(DatasetTest, DictionariesAndStrings) {
  const Dataset dataset =
      Dataset::from_tensor_slices(
          Element::dict(
              {{"id", plimsoll::range(3)},
               {"word", constant({std::string("a"), std::string("b"), std::string("c")}, {3})}}))
          .batch(2);
  std::vector<std::string> words;
  for (const Element& batch : dataset) {
    for (const std::string& word : batch.find("word")->leaf().to_vector<std::string>())
      words.push_back(word);
  }
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(DatasetTest, RangesTensorsAndGenerators) {
  EXPECT_EQ(all_of(Dataset::range(4)), count_to(4));
  EXPECT_EQ(all_of(Dataset::range(5, 0, -2)), (Ints{5, 3, 1}));
  EXPECT_EQ(all_of(Dataset::range(3, 3)), Ints{});
  EXPECT_EQ(Dataset::range(2, 11, 3).cardinality(), 3);
  EXPECT_EQ(all_of(Dataset::range(10).batch(4)), count_to(10));
  EXPECT_EQ(all_of(Dataset::from_tensors(plimsoll::range(3))), count_to(3));
  EXPECT_EQ(Dataset::from_tensors(plimsoll::range(3)).cardinality(), 1);

  std::int64_t num_made = 0;
  const Dataset generated = Dataset::from_generator([&]() -> Dataset::Generator {
    ++num_made;
    return [i = std::int64_t{0}]() mutable -> std::optional<Element> {
      if (i == 5) return std::nullopt;
      return Element(constant(i++));
    };
  });
  EXPECT_EQ(generated.cardinality(), kUnknown);
  EXPECT_EQ(all_of(generated), count_to(5));
  EXPECT_EQ(all_of(generated.repeat(2).batch(4)), (Ints{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(num_made, 3);
}

TEST(DatasetTest, TakeSkipRepeat) {
  for (const Dataset& ten : {rows(10), Dataset::range(10)}) {
    EXPECT_EQ(all_of(ten.take(3)), count_to(3));
    EXPECT_EQ(all_of(ten.take(30)), count_to(10));
    EXPECT_EQ(all_of(ten.take(-1)), count_to(10));
    EXPECT_EQ(all_of(ten.take(0)), Ints{});
    EXPECT_EQ(all_of(ten.skip(7)), (Ints{7, 8, 9}));
    EXPECT_EQ(all_of(ten.skip(30)), Ints{});
    EXPECT_EQ(all_of(ten.skip(-1)), Ints{});
    EXPECT_EQ(all_of(ten.skip(2).take(3).repeat(2)), (Ints{2, 3, 4, 2, 3, 4}));
    EXPECT_EQ(all_of(ten.repeat().take(23).skip(19)), (Ints{9, 0, 1, 2}));
    EXPECT_EQ(all_of(ten.repeat(0)), Ints{});
    EXPECT_EQ(all_of(ten.take(0).repeat()), Ints{});
    EXPECT_EQ(ten.repeat().cardinality(), kInfinite);
    EXPECT_EQ(ten.repeat().take(23).cardinality(), 23);
    EXPECT_EQ(ten.skip(7).cardinality(), 3);
    EXPECT_EQ(ten.skip(30).cardinality(), 0);
    EXPECT_EQ(ten.repeat(3).batch(4).cardinality(), 8);
    EXPECT_EQ(ten.repeat().batch(4).cardinality(), kInfinite);
  }
  EXPECT_EQ(sizes_of(rows(5).batch(2).repeat(2)), (Ints{2, 2, 1, 2, 2, 1}));
  EXPECT_EQ(sizes_of(rows(5).repeat(2).batch(2)), (Ints{2, 2, 2, 2, 2}));
}

TEST(DatasetTest, ShufflesArePermutations) {
  for (const Dataset& hundred : {rows(100), Dataset::range(100)}) {
    for (const std::int64_t buffer : {1, 7, 100, 1000}) {
      const Ints drawn = all_of(hundred.shuffle(buffer, {.seed = 3}));
      EXPECT_EQ(sorted(drawn), count_to(100)) << buffer;
      EXPECT_EQ(drawn == count_to(100), buffer == 1);
      // Nothing comes before its place came into the buffer.
      for (std::size_t i = 0; i < drawn.size(); ++i)
        EXPECT_LT(drawn[i], static_cast<std::int64_t>(i) + buffer);
    }
  }
}

TEST(DatasetTest, ShufflesDifferBetweenEpochsAndRepeatWithASeed) {
  const Dataset one = rows(50).shuffle(50, {.seed = 3}), two = rows(50).shuffle(50, {.seed = 3});
  const Ints first = all_of(one), second = all_of(one);
  EXPECT_NE(first, second);
  EXPECT_EQ(all_of(two), first);
  EXPECT_EQ(all_of(two), second);
  EXPECT_NE(all_of(rows(50).shuffle(50, {.seed = 4})), first);
  const Dataset same = rows(50).shuffle(50, {.seed = 3, .reshuffle_each_iteration = false});
  EXPECT_EQ(all_of(same), all_of(same));
  EXPECT_NE(all_of(rows(50).shuffle(50)), all_of(rows(50).shuffle(50)));
  const Ints both = all_of(rows(50).shuffle(50, {.seed = 3}).repeat(2));
  EXPECT_EQ(Ints(both.begin(), both.begin() + 50), first);
  EXPECT_EQ(Ints(both.begin() + 50, both.end()), second);
}

TEST(DatasetTest, MapsKeepTheOrder) {
  const auto twice = [](const Element& element) {
    const Tensor& x = element.leaf();
    if (x.to_vector<std::int32_t>()[0] % 3 == 0)  // some take longer
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Element(x * 2.0);
  };
  Ints even = count_to(20);
  for (std::int64_t& v : even) v *= 2;
  for (const std::int64_t num : {0, 1, 2, 4, -1}) {
    EXPECT_EQ(all_of(rows(20).map(twice, {.num_parallel_calls = num})), even) << num;
    EXPECT_EQ(all_of(rows(20).map(twice, {.num_parallel_calls = num}).batch(6).prefetch(2)), even);
  }
  EXPECT_EQ(rows(20).map(twice).cardinality(), 20);
}

// What was computed before the error comes first.
TEST(DatasetTest, ErrorsOfMapsArrive) {
  const auto fails = [](const Element& element) -> Element {
    if (element.leaf().to_vector<std::int32_t>()[0] == 4) throw DataLossError("row 4 is bad");
    return element;
  };
  for (const std::int64_t num : {0, 3}) {
    for (const std::int64_t ahead : {0, 2}) {
      const Dataset dataset = rows(8).map(fails, {.num_parallel_calls = num}).prefetch(ahead);
      const auto run = dataset.make_iterator();
      for (std::int32_t i = 0; i < 4; ++i)
        EXPECT_EQ(run->next()->leaf().to_vector<std::int32_t>()[0], i);
      EXPECT_THROW(run->next(), DataLossError);
    }
  }
}

TEST(DatasetTest, AbandonedRunsEndAndGiveBack) {
  std::atomic<int> num_computed = 0;
  const Tensor x = zeros({64, 256});
  const Dataset dataset = Dataset::from_tensor_slices(x)
                              .batch(4)
                              .map(
                                  [&](const Element& element) {
                                    ++num_computed;
                                    return Element(element.leaf() + 1.0);
                                  },
                                  {.num_parallel_calls = 2})
                              .repeat()
                              .prefetch(3);
  const std::uint64_t before = memory::stats().in_use, tagged = held();
  for (int i = 0; i < 3; ++i) {
    const auto run = dataset.make_iterator();
    run->next();
  }
  const int computed = num_computed;
  EXPECT_LE(computed, 3 * (1 + 3 + 1 + 4 + 2));  // given, ahead, in hand, and of the map's threads
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(num_computed, computed);
  EXPECT_EQ(memory::stats().in_use, before);
  EXPECT_EQ(held(), tagged);
}

TEST(DatasetTest, BatchesUseOneBuffer) {
  const Tensor x = zeros({100, 64}), y = zeros({100}, int32);
  const Dataset dataset = Dataset::from_tensor_slices({x, y}).shuffle(100).batch(10);
  const std::uint64_t before = held();
  std::set<std::uint64_t> seen;
  for (const Element& batch : dataset) {
    EXPECT_EQ(batch[0].leaf().shape(), (Shape{10, 64}));
    seen.insert(held());
  }
  ASSERT_EQ(seen.size(), 1U);
  const std::uint64_t batch_bytes = 10 * 64 * 4 + 10 * 4, row_numbers = 100 * 8;
  EXPECT_GE(*seen.begin() - before, batch_bytes + row_numbers);
  EXPECT_LT(*seen.begin() - before, batch_bytes + row_numbers + 1024);
  EXPECT_EQ(held(), before);
}

TEST(DatasetTest, ABatchThatIsHeldKeepsItsValues) {
  std::vector<Tensor> all;
  for (const Element& batch : rows(6).batch(2)) all.push_back(batch.leaf());
  ASSERT_EQ(all.size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(ints_of(all[static_cast<std::size_t>(i)]), (Ints{2 * i, 2 * i + 1}));
}

TEST(DatasetTest, SlicesMemoryThatIsBorrowed) {
  auto rows = std::make_shared<std::vector<double>>(40);
  std::iota(rows->begin(), rows->end(), 0);
  const Tensor doubles = interop::borrow_from_host(float64, {10, 4}, rows->data(), rows);
  const Dataset same = Dataset::from_tensor_slices(doubles).batch(4);
  const Dataset floats = slices_as_floats(doubles).batch(4);
  const std::uint64_t before = memory::report().total;
  for (const Dataset& dataset : {same, floats}) {
    Ints all;
    for (const Element& batch : dataset) {
      all.push_back(batch.leaf().shape()[0]);
      EXPECT_LE(memory::report().total - before, 4 * 4 * sizeof(double));
      if (all.size() > 1) continue;
      EXPECT_EQ(ints_of(batch.leaf())[15], 15);
      rows->at(16) = -1;
    }
    EXPECT_EQ(all, Ints({4, 4, 2}));
  }
  EXPECT_EQ(floats.make_iterator()->next()->leaf().dtype(), float32);
  EXPECT_EQ(same.make_iterator()->next()->leaf().dtype(), float64);
  EXPECT_EQ(ints_of(floats.skip(1).make_iterator()->next()->leaf())[0], -1);
}

TEST(DatasetTest, PrefetchHoldsAsManyAsItSays) {
  const Tensor x = zeros({64, 1024});
  const Dataset dataset = Dataset::from_tensor_slices(x).batch(4).prefetch(2);
  const std::uint64_t before = held(), batch_bytes = 4 * 1024 * 4;
  std::uint64_t most = 0;
  for (const Element& batch : dataset) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(batch.leaf().shape()[0], 4);
    most = std::max(most, held() - before);
  }
  EXPECT_LE(most, 4 * batch_bytes);  // the one in use, two ahead and one that is being made
  EXPECT_EQ(held(), before);
}

TEST(DatasetTest, Refusals) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] {
              Dataset::from_tensor_slices({zeros({3}), zeros({4})});
            }),
            "Dimensions 3 and 4 are not compatible");
  EXPECT_THROW(Dataset::from_tensor_slices(zeros({})), InvalidArgumentError);
  EXPECT_THROW(Dataset::from_tensor_slices(Tensor()), InvalidArgumentError);
  EXPECT_THROW(Dataset::from_tensor_slices(Element()), InvalidArgumentError);
  EXPECT_THROW(rows(3).batch(0), InvalidArgumentError);
  EXPECT_THROW(rows(3).batch(-1), InvalidArgumentError);
  EXPECT_THROW(rows(3).shuffle(0), InvalidArgumentError);
  EXPECT_THROW(rows(3).prefetch(-2), InvalidArgumentError);
  EXPECT_THROW(Dataset::range(0, 3, 0), InvalidArgumentError);
  EXPECT_THROW(rows(3).map(nullptr), InvalidArgumentError);
  EXPECT_THROW(Dataset::from_generator(nullptr), InvalidArgumentError);
}

TEST(DatasetTest, EmptyDatasets) {
  const Dataset none = Dataset::from_tensor_slices(zeros({0, 3}));
  EXPECT_EQ(none.cardinality(), 0);
  EXPECT_EQ(sizes_of(none.shuffle(4).batch(2)), Ints{});
  EXPECT_EQ(sizes_of(none.repeat().batch(2)), Ints{});
  EXPECT_EQ(sizes_of(none.batch(2).prefetch(2)), Ints{});
}

class SimDatasetTest : public FreshTest {};

// Rows that are on a GPU are batched there, within its limit.
TEST_F(SimDatasetTest, BatchesAreMadeWhereTheRowsAre) {
  simulate("rtx-3060-12gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 8}});
  const auto scope = device("/GPU:0");
  const Tensor x = reshape(plimsoll::range(0.0, 4096.0), {64, 64}), y = plimsoll::range(64);
  const Dataset dataset =
      Dataset::from_tensor_slices({x, y}).shuffle(64, {.seed = 1}).batch(10).prefetch(2);
  const std::uint64_t before = memory::stats("GPU:0").in_use;
  Ints seen;
  for (const Element& batch : dataset) {
    EXPECT_NE(batch[0].leaf().device().find("GPU:0"), std::string::npos);
    const std::vector<float> values = batch[0].leaf().to_vector<float>();
    const Ints labels = ints_of(batch[1].leaf());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      EXPECT_EQ(values[i * 64], static_cast<float>(labels[i] * 64));
      seen.push_back(labels[i]);
    }
  }
  EXPECT_EQ(sorted(seen), count_to(64));
  EXPECT_EQ(memory::stats("GPU:0").in_use, before);
}

// Rows out of the caller's memory, which is not counted, not written to, and kept as long as
// needed.
TEST_F(SimDatasetTest, BorrowedArrays) {
  auto values = std::make_shared<std::vector<float>>(64, 1.0F);
  const std::weak_ptr<std::vector<float>> watched = values;
  const std::uint64_t before = memory::stats("CPU:0").in_use;
  Tensor lent = interop::borrow_from_host(float32, {16, 4}, values->data(), values);
  EXPECT_EQ(memory::stats("CPU:0").in_use, before);
  Variable variable(Tensor(lent), {});
  variable.assign_add(ones({16, 4}));
  EXPECT_EQ((*values)[0], 1.0F);
  EXPECT_EQ(variable.value().to_vector<float>()[0], 2.0F);
  Variable other(std::move(lent), {});
  other.assign_add(ones({16, 4}));
  EXPECT_EQ((*values)[0], 1.0F);
  auto dataset = Dataset::from_tensor_slices(
      interop::borrow_from_host(float32, {16, 4}, values->data(), values));
  values.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(sizes_of(dataset.batch(6)), (Ints{6, 6, 4}));
  dataset = Dataset::range(1);
  EXPECT_TRUE(watched.expired());
}

// A batch that the device cannot hold: the error arrives, and nothing is left.
TEST_F(SimDatasetTest, BatchesThatDoNotFit) {
  simulate("rtx-3060-12gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 4}});
  const auto scope = device("/GPU:0");
  const Tensor x = zeros({3, 256, 1024});  // 3 MiB
  const std::uint64_t before = memory::stats("GPU:0").in_use;
  for (const std::int64_t ahead : {0, 2}) {
    const auto run = Dataset::from_tensor_slices(x).batch(2).prefetch(ahead).make_iterator();
    EXPECT_THROW(run->next(), ResourceExhaustedError);
  }
  EXPECT_EQ(memory::stats("GPU:0").in_use, before);
  EXPECT_EQ(sizes_of(Dataset::from_tensor_slices(x).batch(1)), (Ints{1, 1, 1}));
}

}  // namespace
}  // namespace plimsoll::data

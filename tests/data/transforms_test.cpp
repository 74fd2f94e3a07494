// Transformations: what they give, as TensorFlow has it.
#include <gtest/gtest.h>

#include "plimsoll/data/dataset.h"
#include "plimsoll/error.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::data {
namespace {

using Ints = std::vector<std::int64_t>;

Ints ints_of(const Tensor& t) {
  return cast(t, int64).to_vector<std::int64_t>();
}
std::int64_t int_of(const Element& element) {
  return ints_of(element.leaf())[0];
}
// All numbers of a dataset, one after the other.
Ints all_of(const Dataset& dataset) {
  Ints all;
  for (const Element& element : dataset) {
    element.for_each([&](const Tensor& t) {
      for (const std::int64_t v : ints_of(t)) all.push_back(v);
    });
  }
  return all;
}
// A dataset of `count` times `value`.
Dataset times(const Element& value, std::int64_t count) {
  return Dataset::from_tensors(value).repeat(count);
}
// Row i has i + 1 numbers i.
Dataset rows_of_many_lengths(std::int64_t count) {
  return Dataset::range(count).map([](const Element& e) {
    const std::int64_t i = int_of(e);
    return Element(fill({i + 1}, static_cast<double>(i), int64));
  });
}

TEST(TransformsTest, ZipEndsWithTheShortest) {
  const Dataset zipped = Dataset::zip({Dataset::range(5), Dataset::range(10, 13)});
  EXPECT_EQ(zipped.cardinality(), 3);
  EXPECT_EQ(all_of(zipped), (Ints{0, 10, 1, 11, 2, 12}));
  const Dataset named =
      Dataset::zip(Nest<Dataset>::dict({{"a", Dataset::range(2)}, {"b", Dataset::range(2)}}));
  EXPECT_EQ(int_of(*(*named.begin()).find("b")), 0);
  EXPECT_EQ(Dataset::zip({Dataset::range(2), Dataset::range(1).repeat()}).cardinality(), 2);
  EXPECT_THROW(Dataset::zip(Nest<Dataset>()), InvalidArgumentError);
}

TEST(TransformsTest, OneBehindTheOther) {
  const Dataset joined = Dataset::range(2).concatenate(Dataset::range(5, 7));
  EXPECT_EQ(joined.cardinality(), 4);
  EXPECT_EQ(all_of(joined), (Ints{0, 1, 5, 6}));
  const Dataset mixed = Dataset::range(2).concatenate(Dataset::from_tensors(constant(1.5F)));
  EXPECT_THROW(all_of(mixed), InvalidArgumentError);
}

TEST(TransformsTest, ChoosesElements) {
  const auto is_even = [](const Element& e) { return int_of(e) % 2 == 0; };
  EXPECT_EQ(all_of(Dataset::range(7).filter(is_even)), (Ints{0, 2, 4, 6}));
  EXPECT_EQ(Dataset::range(7).filter(is_even).cardinality(), kUnknown);
  EXPECT_EQ(all_of(Dataset::range(7).take_while([](const Element& e) { return int_of(e) < 3; })),
            (Ints{0, 1, 2}));
  EXPECT_EQ(all_of(Dataset::range(7).shard(3, 1)), (Ints{1, 4}));
  EXPECT_EQ(Dataset::range(7).shard(3, 0).cardinality(), 3);
  EXPECT_EQ(all_of(Dataset::range(5, 7).enumerate(3)), (Ints{3, 5, 4, 6}));
  EXPECT_THROW(Dataset::range(7).shard(3, 3), InvalidArgumentError);
  EXPECT_THROW(Dataset::range(7).shard(0, 0), InvalidArgumentError);
}

TEST(TransformsTest, RowsOfBatches) {
  EXPECT_EQ(all_of(Dataset::range(5).batch(2).unbatch()), (Ints{0, 1, 2, 3, 4}));
  const Dataset batches = Dataset::range(5).batch(2).unbatch().batch(5);
  EXPECT_EQ((*batches.begin()).leaf().shape(), (Shape{5}));
  EXPECT_THROW(all_of(Dataset::range(2).unbatch()), InvalidArgumentError);
}

TEST(TransformsTest, InTurns) {
  const Dataset turns = Dataset::range(1, 6).interleave(
      [](const Element& e) { return times(e, 6); }, {.cycle_length = 2, .block_length = 4});
  EXPECT_EQ(all_of(turns), (Ints{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                                 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5}));
  const Dataset flat =
      Dataset::range(4).flat_map([](const Element& e) { return Dataset::range(int_of(e)); });
  EXPECT_EQ(all_of(flat), (Ints{0, 0, 1, 0, 1, 2}));
  EXPECT_THROW(Dataset::range(1).interleave([](const Element& e) { return times(e, 1); },
                                            {.cycle_length = 0}),
               InvalidArgumentError);
}

TEST(TransformsTest, PlacesAreFilledInTurn) {
  const Dataset turns = Dataset::range(5).interleave(
      [](const Element& e) { return Dataset::range(int_of(e)); }, {.cycle_length = 3});
  EXPECT_EQ(all_of(turns), (Ints{0, 0, 0, 1, 1, 0, 2, 1, 2, 3}));
}

TEST(TransformsTest, Groups) {
  const Dataset groups = Dataset::range(10).group_by_window(
      {.key = [](const Element& e) { return int_of(e) % 3; },
       .reduce = [](std::int64_t, const Dataset& window) { return window.batch(2); },
       .window_size = [](std::int64_t) { return 2; }});
  EXPECT_EQ(all_of(groups), (Ints{0, 3, 1, 4, 2, 5, 6, 9, 7, 8}));
  EXPECT_THROW(Dataset::range(1).group_by_window({}), InvalidArgumentError);
}

TEST(TransformsTest, EachOnce) {
  const Dataset twice = Dataset::range(4).repeat(2).concatenate(Dataset::range(6));
  EXPECT_EQ(all_of(twice.unique()), (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(all_of(Dataset::range(4).batch(2).unique()), InvalidArgumentError);
}

TEST(TransformsTest, ErrorsAreLeftOut) {
  const Dataset odd = Dataset::range(6).map([](const Element& e) {
    if (int_of(e) % 2 == 0) throw InvalidArgumentError("even");
    if (int_of(e) == 3) throw std::runtime_error("three");
    return e;
  });
  EXPECT_THROW(all_of(odd.ignore_errors()), std::runtime_error);
  EXPECT_EQ(all_of(odd.ignore_errors([] { return true; })), (Ints{1, 5}));
}

TEST(TransformsTest, Windows) {
  const auto batched = [](std::int64_t size) {
    return [size](const Dataset& window) { return window.batch(size); };
  };
  EXPECT_EQ(all_of(Dataset::range(7).window({.size = 3}, batched(3))), (Ints{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(all_of(Dataset::range(7).window({.size = 3, .drop_remainder = true}, batched(3))),
            (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(all_of(Dataset::range(7).window(
                {.size = 3, .shift = 1, .stride = 2, .drop_remainder = true}, batched(3))),
            (Ints{0, 2, 4, 1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(all_of(Dataset::range(7).window({.size = 2, .shift = 4}, batched(2))),
            (Ints{0, 1, 4, 5}));
  EXPECT_THROW(Dataset::range(7).window({.size = 0}, batched(1)), InvalidArgumentError);
}

TEST(TransformsTest, ScansWithAState) {
  const Dataset sums = Dataset::range(5).scan(constant(std::int64_t{0}),
                                              [](const Element& state, const Element& element) {
                                                const Element sum(state.leaf() + element.leaf());
                                                return std::pair(sum, sum);
                                              });
  EXPECT_EQ(all_of(sums), (Ints{0, 1, 3, 6, 10}));
  EXPECT_EQ(all_of(sums), (Ints{0, 1, 3, 6, 10}));  // from the beginning
}

TEST(TransformsTest, ACacheComputesOnce) {
  int num_calls = 0;
  const Dataset cached = Dataset::range(4)
                             .map([&](const Element& e) {
                               ++num_calls;
                               return e;
                             })
                             .cache();
  EXPECT_EQ(all_of(cached.take(2)), (Ints{0, 1}));  // not to its end: nothing is kept
  EXPECT_EQ(num_calls, 2);
  EXPECT_EQ(all_of(cached), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(all_of(cached), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(num_calls, 6);
}

// All come to their end, whichever is asked first.
TEST(TransformsTest, CachesSideBySideAreFilled) {
  int num_calls = 0;
  const auto counted = [&](std::int64_t num) {
    return Dataset::range(num)
        .map([&](const Element& e) {
          ++num_calls;
          return e;
        })
        .cache();
  };
  const Dataset zipped = Dataset::zip(Nest<Dataset>::List{counted(4), counted(4), counted(4)});
  for (int i = 0; i < 2; ++i) {
    int num = 0;
    for (const Element& e : zipped) num += static_cast<int>(e.size());
    EXPECT_EQ(num, 12);
  }
  EXPECT_EQ(num_calls, 12);
}

TEST(TransformsTest, FillsUpBatches) {
  const Dataset padded = rows_of_many_lengths(3).padded_batch(2);
  std::vector<Shape> shapes;
  for (const Element& batch : padded) shapes.push_back(batch.leaf().shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}, {1, 3}}));
  EXPECT_EQ(all_of(padded), (Ints{0, 0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(all_of(rows_of_many_lengths(2).padded_batch(
                2, {.padded_shapes = {{3}}, .padding_values = {-1}})),
            (Ints{0, -1, -1, 1, 1, -1}));
  EXPECT_THROW(all_of(rows_of_many_lengths(3).padded_batch(3, {.padded_shapes = {{2}}})),
               DataLossError);
  EXPECT_EQ(rows_of_many_lengths(3).padded_batch(2, {.drop_remainder = true}).cardinality(), 1);
}

TEST(TransformsTest, BatchesOfAboutTheSameLength) {
  const auto length = [](const Element& e) { return e.leaf().shape()[0]; };
  const Dataset buckets = rows_of_many_lengths(5).bucket_by_sequence_length(
      length, {.bucket_boundaries = {3, 5}, .bucket_batch_sizes = {2, 2, 2}});
  std::vector<Shape> shapes;
  for (const Element& batch : buckets) shapes.push_back(batch.leaf().shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}, {2, 4}, {1, 5}}));
  EXPECT_THROW(rows_of_many_lengths(5).bucket_by_sequence_length(
                   length, {.bucket_boundaries = {3}, .bucket_batch_sizes = {2}}),
               InvalidArgumentError);
}

// What a step computes with is gone when its run is.
TEST(TransformsTest, NothingIsHeldWhenARunIsLeft) {
  const std::uint64_t before = memory::report().total;
  {
    const Dataset dataset = Dataset::zip({rows_of_many_lengths(100), Dataset::range(100)})
                                .filter([](const Element& e) { return int_of(e[1]) > 3; })
                                .padded_batch(4)
                                .prefetch(2);
    const auto run = dataset.make_iterator();
    run->next();
  }
  EXPECT_EQ(memory::report().total, before);
}

// The numbers of a run; kError where another error than that of memory came, kEnd behind the last.
constexpr std::int64_t kError = -1, kEnd = -2;
Ints numbers_and_errors(const Dataset& dataset) {
  Ints found;
  const auto run = dataset.make_iterator();
  while (found.size() < 100) {  // errors that never end are a failure, not a hang
    try {
      const auto element = run->next();
      if (!element) {
        found.push_back(kEnd);
        break;
      }
      element->for_each([&](const Tensor& t) {
        for (const std::int64_t v : ints_of(t)) found.push_back(v);
      });
    } catch (const InvalidArgumentError&) {
      found.push_back(kError);
    } catch (const DataLossError&) {
      found.push_back(kError);
    }
  }
  return found;
}
// 1 to `last`, with an error instead of `bad`.
Dataset numbers_but(std::int64_t bad, std::int64_t last) {
  return Dataset::range(1, last + 1).map([bad](const Element& e) {
    if (int_of(e) == bad) throw InvalidArgumentError("bad");
    return e;
  });
}
Element same(const Element& element) {
  return element;
}

TEST(TransformsTest, WhatIsBehindAnErrorComesNext) {
  const Ints expected{1, kError, 3, 4, 5, 6, kEnd};
  const Dataset numbers = numbers_but(2, 6);
  EXPECT_EQ(numbers_and_errors(numbers), expected);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(numbers_and_errors(numbers.map(same, {.num_parallel_calls = 2})), expected);
  EXPECT_EQ(numbers_and_errors(numbers.take(7)), expected);
  EXPECT_EQ(numbers_and_errors(numbers.skip(2)), (Ints{kError, 3, 4, 5, 6, kEnd}));
  EXPECT_EQ(numbers_and_errors(numbers.skip(2).repeat(2)),
            (Ints{kError, 3, 4, 5, 6, kError, 3, 4, 5, 6, kEnd}));
  EXPECT_EQ(numbers_and_errors(numbers_but(6, 6).map(same, {.num_parallel_calls = 2})),
            (Ints{1, 2, 3, 4, 5, kError, kEnd}));
}

TEST(TransformsTest, ZipStaysInStepBehindAnError) {
  EXPECT_EQ(
      numbers_and_errors(Dataset::zip({Dataset::range(10), numbers_but(2, 4), numbers_but(2, 5)})),
      (Ints{0, 1, 1, kError, 2, 3, 3, 3, 4, 4, kEnd}));
  EXPECT_EQ(numbers_and_errors(Dataset::zip({numbers_but(2, 9), Dataset::range(1)})),
            (Ints{1, 0, kError, kEnd}));
}

TEST(TransformsTest, BatchesThatCannotBeAreLeft) {
  // of 1, 1, 2, 2, 3, 3 and 4 numbers
  const Dataset rows = Dataset::range(7).map([](const Element& e) {
    const std::int64_t i = int_of(e);
    return Element(fill({i / 2 + 1}, static_cast<double>(i), int64));
  });
  const Dataset unknown = rows.filter([](const Element&) { return true; });
  for (const Dataset& dataset : {rows, unknown}) {
    EXPECT_EQ(numbers_and_errors(dataset.batch(3)), (Ints{kError, kError, 6, 6, 6, 6, kEnd}));
    EXPECT_EQ(numbers_and_errors(dataset.batch(2)),
              (Ints{0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, kEnd}));
    EXPECT_EQ(numbers_and_errors(dataset.padded_batch(3, {.padded_shapes = {{2}}})),
              (Ints{0, 0, 1, 0, 2, 2, kError, kError, kEnd}));
  }
  const auto length = [](const Element& e) {
    if (e.leaf().shape()[0] == 2) throw InvalidArgumentError("two");
    return e.leaf().shape()[0];
  };
  EXPECT_EQ(numbers_and_errors(rows.bucket_by_sequence_length(
                length, {.bucket_boundaries = {2}, .bucket_batch_sizes = {2, 2}})),
            (Ints{0, 1, kError, kError, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, kEnd}));
  EXPECT_EQ(
      numbers_and_errors(rows.bucket_by_sequence_length(length, {.bucket_boundaries = {2},
                                                                 .bucket_batch_sizes = {2, 2},
                                                                 .pad_to_bucket_boundary = true})),
      (Ints{0, 1, kError, kError, kError, kError, kEnd}));
}

TEST(TransformsTest, DatasetsThatCannotBeMadeAreLeft) {
  const auto two = [](const Element& e) {
    const std::int64_t i = int_of(e);
    if (i == 1) throw InvalidArgumentError("one");
    return Dataset::range(10 * i, 10 * i + 2);
  };
  EXPECT_EQ(numbers_and_errors(Dataset::range(3).flat_map(two)),
            (Ints{0, 1, kError, 20, 21, kEnd}));
  EXPECT_EQ(numbers_and_errors(Dataset::range(4).interleave(two, {.cycle_length = 2})),
            (Ints{0, kError, 20, 1, 21, 30, 31, kEnd}));
}

TEST(TransformsTest, RefusedDatasetsKeepTheOrderOfTurns) {
  for (int refused = 0; refused < 4; ++refused) {
    int num_calls = 0;
    const auto run = Dataset::range(4)
                         .interleave(
                             [&](const Element& e) {
                               if (num_calls++ == refused) throw ResourceExhaustedError("once");
                               return Dataset::range(10 * int_of(e), 10 * int_of(e) + 2);
                             },
                             {.cycle_length = 2})
                         .make_iterator();
    Ints found;
    int num_refused = 0;
    while (true) {
      try {
        const auto element = run->next();
        if (!element) break;
        found.push_back(int_of(*element));
      } catch (const ResourceExhaustedError&) {
        ASSERT_EQ(++num_refused, 1);
      }
    }
    EXPECT_EQ(found, (Ints{0, 10, 1, 11, 20, 30, 21, 31})) << refused;
    EXPECT_EQ(num_refused, 1);
  }
}

TEST(TransformsTest, StringsAreFilledUp) {
  const std::vector<std::string> words{"a", "b", "c", "d"};
  const Dataset rows = Dataset::range(2).map([&](const Element& e) {
    const std::int64_t i = int_of(e);
    return Element(
        constant(std::span<const std::string>(words), i == 0 ? Shape{2, 2} : Shape{1, 4}));
  });
  const auto batch = rows.padded_batch(2).make_iterator()->next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->leaf().shape(), (Shape{2, 2, 4}));
  EXPECT_EQ(batch->leaf().to_vector<std::string>(),
            (std::vector<std::string>{"a", "b", "", "", "c", "d", "", "",  //
                                      "a", "b", "c", "d", "", "", "", ""}));
}

TEST(TransformsTest, ErrorsInFunctionsComeThrough) {
  const Dataset bad =
      Dataset::range(3).filter([](const Element&) -> bool { throw std::runtime_error("no"); });
  EXPECT_THROW(all_of(bad), std::runtime_error);
}

}  // namespace
}  // namespace plimsoll::data

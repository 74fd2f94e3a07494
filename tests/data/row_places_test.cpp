// Elements that threads make stand in the batch that they are for, and nobody can tell.
#include "data/row_places.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "plimsoll/error.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::data {
namespace {

constexpr std::int64_t kSide = 128, kBatch = 16, kNumElements = 100;

std::int64_t number_of(const Element& element) {
  return element.leaf().item<std::int64_t>();
}
// A picture of a number.
Tensor picture(std::int64_t n) {
  return fill({kSide, kSide}, static_cast<double>(n), float32);
}
bool is_picture(const Tensor& t, double n) {
  return reduce_all(equal(t, fill({kSide, kSide}, n, float32))).item<bool>();
}

using Fn = std::function<Element(const Element&)>;
Dataset pictures(Fn fn) {
  return Dataset::range(kNumElements).map(std::move(fn), {.num_parallel_calls = 2}).batch(kBatch);
}
// value(i) is in row i, of all batches together; `leaf` of each element.
template <class F>
void expect_rows(const Dataset& dataset, F value, std::size_t leaf = 0) {
  std::int64_t i = 0;
  for (const Element& batch : dataset) {
    const Tensor rows = batch.flatten().at(leaf);
    for (const Tensor& row : unstack(rows)) {
      EXPECT_TRUE(is_picture(row, static_cast<double>(value(i)))) << i;
      ++i;
    }
  }
  EXPECT_EQ(i, kNumElements);
}

TEST(RowPlacesTest, ResultsStandInTheirBatch) {
  std::mutex mutex;
  std::map<std::int64_t, const void*> places;
  const Dataset dataset = pictures([&](const Element& e) {
    const Tensor made = picture(number_of(e));
    std::scoped_lock lock(mutex);
    places[number_of(e)] = interop::host_data(made);
    return Element(made);
  });
  std::int64_t i = 0, num_placed = 0;
  for (const Element& batch : dataset) {
    const auto* bytes = static_cast<const char*>(interop::host_data(batch.leaf()));
    for (std::int64_t row = 0; row < batch.leaf().shape()[0]; ++row, ++i) {
      std::scoped_lock lock(mutex);
      num_placed += places.at(i) == bytes + row * kSide * kSide * 4;
    }
  }
  // The others were made before their batch was begun: threads are some elements ahead.
  EXPECT_GT(num_placed, kNumElements / 4);
  EXPECT_LT(num_placed, kNumElements);
  expect_rows(dataset, [](std::int64_t n) { return n; });
}

TEST(RowPlacesTest, ResultsOfSeveralSteps) {
  expect_rows(pictures([](const Element& e) { return Element(picture(number_of(e)) + 1.0F); }),
              [](std::int64_t n) { return n + 1; });
  expect_rows(pictures([](const Element& e) {
                Tensor made = picture(number_of(e));
                for (int k = 0; k < 5; ++k) made = made * 2.0F - made + 1.0F;
                return Element(made);
              }),
              [](std::int64_t n) { return n + 5; });
}

TEST(RowPlacesTest, WhatFunctionsKeepStaysWhatItIs) {
  for (const bool is_returned : {false, true}) {
    std::mutex mutex;
    std::map<std::int64_t, Tensor> kept;
    expect_rows(pictures([&](const Element& e) {
                  const Tensor made = picture(number_of(e));
                  std::scoped_lock lock(mutex);
                  kept[number_of(e)] = made;
                  return Element(is_returned ? made : made + 1.0F);
                }),
                [&](std::int64_t n) { return is_returned ? n : n + 1; });
    EXPECT_EQ(std::ssize(kept), kNumElements);
    for (const auto& [n, made] : kept) EXPECT_TRUE(is_picture(made, static_cast<double>(n))) << n;
  }
}

TEST(RowPlacesTest, TensorsOfOneSizeInAnyOrder) {
  const Dataset swapped = pictures([](const Element& e) {
    const Tensor second = picture(number_of(e)), first = second + 0.5F;
    return Element(Element::List{first, second});
  });
  expect_rows(swapped, [](std::int64_t n) { return static_cast<double>(n) + 0.5; });
  expect_rows(
      swapped, [](std::int64_t n) { return n; }, 1);
  const Dataset twice = pictures([](const Element& e) {
    const Tensor made = picture(number_of(e));
    return Element(Element::List{made, made});
  });
  for (const std::size_t leaf : {0U, 1U}) {
    expect_rows(
        twice, [](std::int64_t n) { return n; }, leaf);
  }
}

// Elements behind an error are in other rows than it was thought.
TEST(RowPlacesTest, ErrorsInBetween) {
  const auto is_bad = [](std::int64_t n) { return n % 7 == 3; };
  const Dataset dataset = pictures([&](const Element& e) {
    const Tensor made = picture(number_of(e));
    if (is_bad(number_of(e))) throw InvalidArgumentError("bad");
    return Element(made);
  });
  const auto run = dataset.make_iterator();
  std::vector<std::int64_t> expected;
  for (std::int64_t n = 0; n < kNumElements; ++n) {
    if (!is_bad(n)) expected.push_back(n);
  }
  std::size_t i = 0;
  while (true) {
    std::optional<Element> batch;
    try {
      batch = run->next();
    } catch (const InvalidArgumentError&) {
      continue;
    }
    if (!batch) break;
    for (const Tensor& row : unstack(batch->leaf())) {
      ASSERT_LT(i, expected.size());
      EXPECT_TRUE(is_picture(row, static_cast<double>(expected[i]))) << i;
      ++i;
    }
  }
  EXPECT_EQ(i, expected.size());
}

}  // namespace
}  // namespace plimsoll::data

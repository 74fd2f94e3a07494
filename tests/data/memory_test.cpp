// What datasets hold, what they do when memory is short, and that it comes back.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "plimsoll/data/dataset.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::data {
namespace {

constexpr std::int64_t kFloats = 64 << 10;  // of an element: 256 KiB
constexpr std::uint64_t kBytes = kFloats * sizeof(float);

std::uint64_t held() {
  return memory::stats().by_tag[static_cast<std::size_t>(memory::Tag::kDataset)];
}
std::uint64_t in_use() {
  return Context::get().cpu().budget().in_use();
}

// While it lives, there is room for so many more bytes on the CPU.
class Room {
 public:
  explicit Room(std::uint64_t nbytes)
      : budget_(Context::get().cpu().budget()), old_(budget_.limit()) {
    // Threads may take some meanwhile.
    budget_.set_limit(budget_.in_use() + nbytes, memory::Budget::Lowering::kAsReleased);
  }
  ~Room() { budget_.set_limit(old_); }

 private:
  memory::Budget budget_;
  const std::uint64_t old_;
};

Dataset large_elements(std::int64_t count) {
  return Dataset::range(count).map(
      [](const Element& i) { return Element(cast(i.leaf(), float32) + zeros({kFloats})); });
}
float first_of(const Element& element) {
  return element.leaf().to_vector<float>()[0];
}

TEST(DatasetMemoryTest, ElementsAreBookedAsDataset) {
  const std::uint64_t before = held();
  const auto run = large_elements(4).make_iterator();
  const auto element = run->next();
  EXPECT_GE(held(), before + kBytes);
  EXPECT_EQ(memory::stats().by_tag[static_cast<std::size_t>(memory::Tag::kActivations)], 0U);
}

TEST(DatasetMemoryTest, PrefetchHoldsFewerWhereMemoryIsShort) {
  const std::uint64_t before = in_use();
  {
    const Dataset dataset = large_elements(40).prefetch(16);
    const Room room(6 * kBytes);
    float next = 0;
    for (const Element& element : dataset) EXPECT_EQ(first_of(element), next++);
    EXPECT_EQ(next, 40);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, BatchesWaitForMemory) {
  const Tensor rows = zeros({64, kFloats});
  const std::uint64_t before = in_use();
  {
    const Dataset dataset = Dataset::from_tensor_slices(rows).batch(4).prefetch(8);
    const Room room(14 * kBytes);  // three batches
    std::int64_t num = 0;
    for (const Element& batch : dataset) num += batch.leaf().shape()[0];
    EXPECT_EQ(num, 64);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, BatchesTakeElementsAsTheyCome) {
  constexpr std::uint64_t kRows = 16;
  const std::uint64_t before = in_use();
  memory::Budget budget = Context::get().cpu().budget();
  budget.reset_peak();
  std::int64_t num = 0;
  for (const Element& batch : large_elements(3 * kRows).batch(kRows))
    num += batch.leaf().shape()[0];
  EXPECT_EQ(num, 3 * static_cast<std::int64_t>(kRows));
  // The batch that is made and that which is held; an element and what it is made of.
  EXPECT_LE(budget.peak() - before, (2 * kRows + 4) * kBytes);
  const Room room((kRows + 4) * kBytes);
  EXPECT_TRUE(large_elements(kRows).batch(kRows).make_iterator()->next());
}

// Of known and unknown numbers of elements, with a small batch at the end.
TEST(DatasetMemoryTest, BatchesAreThoseOfTheirElements) {
  const auto pair = [](const Element& e) {
    return Element{cast(e.leaf(), float32) + zeros({2, 3}), e.leaf() * constant(std::int64_t{10})};
  };
  const auto all = [](const Element&) { return true; };
  const Dataset pairs = Dataset::range(11).map(pair);
  for (const Dataset& dataset :
       {pairs.batch(4), pairs.filter(all).batch(4),
        pairs.map([](const Element& e) { return e; }, {.num_parallel_calls = 2}).batch(4),
        pairs.repeat().batch(4).take(3)}) {
    std::int64_t next = 0;
    std::vector<Element> kept;
    for (const Element& batch : dataset) kept.push_back(batch);
    ASSERT_EQ(kept.size(), 3U);
    for (const Element& batch : kept) {
      const std::int64_t rows = batch[0].leaf().shape()[0];
      EXPECT_EQ(batch[0].leaf().shape(), (Shape{rows, 2, 3}));
      const auto floats = batch[0].leaf().to_vector<float>();
      const auto numbers = batch[1].leaf().to_vector<std::int64_t>();
      for (std::int64_t i = 0; i < rows; ++i, ++next) {
        EXPECT_EQ(floats[static_cast<std::size_t>(i * 6 + 5)], static_cast<float>(next % 11));
        EXPECT_EQ(numbers[static_cast<std::size_t>(i)], next % 11 * 10);
      }
    }
    EXPECT_TRUE(next == 11 || next == 12);
  }
  const Dataset unlike = Dataset::range(4).map(
      [](const Element& e) { return Element(zeros({e.leaf().item<std::int64_t>() / 2 + 1})); });
  for (const Dataset& dataset : {unlike.batch(4), unlike.filter(all).batch(4)}) {
    try {
      dataset.make_iterator()->next();
      ADD_FAILURE();
    } catch (const InvalidArgumentError& error) {
      EXPECT_NE(
          std::string(error.what()).find("First element had shape [1] and element 2 had shape [2]"),
          std::string::npos)
          << error.what();
    }
  }
}

// A batch far larger than what there is takes no more than that.
TEST(DatasetMemoryTest, ABatchOfAllTakesNoMoreThanThereIs) {
  const auto all = [](const Element&) { return true; };
  for (const Dataset& dataset : {large_elements(4), large_elements(4).filter(all)}) {
    const Room room(12 * kBytes);
    const auto batch = dataset.batch(1 << 20).make_iterator()->next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->leaf().shape()[0], 4);
  }
}

TEST(DatasetMemoryTest, ParallelMapHoldsFewerWhereMemoryIsShort) {
  const std::uint64_t before = in_use();
  {
    const Dataset dataset = Dataset::range(40).map(
        [](const Element& i) { return Element(cast(i.leaf(), float32) + zeros({kFloats})); },
        {.num_parallel_calls = 4});
    const Room room(5 * kBytes);
    float next = 0;
    std::optional<Element> kept;  // as a loop in Python has it
    const auto run = dataset.make_iterator();
    while (auto element = run->next()) {
      EXPECT_EQ(first_of(*element), next++);
      kept = std::move(element);
    }
    EXPECT_EQ(next, 40);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, ShuffleDrawsFromFewerWhereMemoryIsShort) {
  const std::uint64_t before = in_use();
  {
    const Dataset dataset = large_elements(60).shuffle(50, {.seed = 1}).batch(2).prefetch(1);
    const Room room(24 * kBytes);
    std::vector<bool> seen(60);
    for (const Element& batch : dataset) {
      const std::vector<float> values = batch.leaf().to_vector<float>();
      seen[static_cast<std::size_t>(values[0])] = true;
      seen[static_cast<std::size_t>(values[kFloats])] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 60);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, OneElementTooManyIsAnError) {
  const std::uint64_t before = in_use();
  {
    const Dataset dataset = large_elements(4).prefetch(4);
    const Room room(kBytes / 2);
    const auto run = dataset.make_iterator();
    EXPECT_THROW(run->next(), ResourceExhaustedError);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, AbandonedRunsGiveEverythingBack) {
  const std::uint64_t before = in_use();
  for (int i = 0; i < 20; ++i) {
    const auto run = large_elements(1000)
                         .shuffle(4)
                         .map([](const Element& e) { return e; }, {.num_parallel_calls = 3})
                         .batch(2)
                         .prefetch(2)
                         .make_iterator();
    for (int j = 0; j < i % 4; ++j) run->next();
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, GeneratorsThatThrowGiveEverythingBack) {
  const std::uint64_t before = in_use();
  const Dataset dataset = Dataset::from_generator([]() -> Dataset::Generator {
                            return [i = 0]() mutable -> std::optional<Element> {
                              if (i++ == 5) throw std::runtime_error("five");
                              return Element(zeros({kFloats}));
                            };
                          })
                              .map([](const Element& e) { return e; }, {.num_parallel_calls = 2})
                              .prefetch(3);
  {
    const auto run = dataset.make_iterator();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(run->next());
    EXPECT_THROW(run->next(), std::runtime_error);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DatasetMemoryTest, WaitsCanBeEnded) {
  static std::atomic<bool> is_free;
  is_free = false;
  const Dataset slow = Dataset::range(2)
                           .map([](const Element& e) {
                             while (!is_free) std::this_thread::yield();
                             return e;
                           })
                           .prefetch(1);
  set_wait_check(+[] {
    is_free = true;
    throw InvalidArgumentError("that is enough");
  });
  const auto run = slow.make_iterator();
  EXPECT_THROW(run->next(), InvalidArgumentError);
  set_wait_check(nullptr);
  EXPECT_TRUE(run->next());  // and it goes on
}

// AddressSanitizer's malloc does not hold its own locks across fork(), nor does ThreadSanitizer's.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(DatasetMemoryTest, ChildrenOfForkDoNotHang) {
  const Dataset dataset = Dataset::range(1000)
                              .map([](const Element& e) { return e; }, {.num_parallel_calls = 2})
                              .prefetch(2);
  auto run = dataset.make_iterator();
  EXPECT_TRUE(run->next());
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int code = 0;
    try {
      run->next();
      code = 1;  // its threads are in the parent
    } catch (const FailedPreconditionError&) {
    }
    run.reset();
    std::int64_t num = 0;
    for (const Element& element : dataset) num += element.leaf().num_elements();
    ::_exit(code + (num == 1000 ? 0 : 2));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(run->next());
}
#endif

// An error is not the end, with a thread that reads ahead neither.
TEST(DatasetMemoryTest, PrefetchGoesOnBehindAnError) {
  std::unique_ptr<Iterator> run;
  {
    const Room room(kBytes / 2);  // before its thread begins
    run = large_elements(6).prefetch(2).make_iterator();
    for (int i = 0; i < 3; ++i) EXPECT_THROW(run->next(), ResourceExhaustedError);
  }
  for (int i = 0; i < 6; ++i) {
    const auto element = run->next();
    ASSERT_TRUE(element) << i;
    EXPECT_EQ(first_of(*element), static_cast<float>(i));
  }
  EXPECT_FALSE(run->next());

  int next = 0;
  const Dataset odd = Dataset::from_generator([&]() -> Dataset::Generator {
    return [&]() -> std::optional<Element> {
      if (next == 6) return {};
      if (++next % 2 == 0) throw InvalidArgumentError("even");
      return Element(constant(next));
    };
  });
  const auto ahead = odd.prefetch(4).make_iterator();
  for (int i = 1; i <= 6; ++i) {
    if (i % 2 == 0) {
      EXPECT_THROW(ahead->next(), InvalidArgumentError) << i;
    } else {
      EXPECT_EQ(ahead->next()->leaf().item<int>(), i);
    }
  }
  EXPECT_FALSE(ahead->next());
}

// All numbers of a run that finds no room for anything at each first try.
std::vector<std::int64_t> numbers_refused_once(const Dataset& dataset, int& num_refused) {
  std::vector<std::int64_t> found;
  const auto run = dataset.make_iterator();
  while (true) {
    std::optional<Element> element;
    try {
      const Room room(0);
      element = run->next();
    } catch (const ResourceExhaustedError&) {
      ++num_refused;
      element = run->next();
    }
    if (!element) return found;
    found.push_back(element->leaf().item<std::int64_t>());
  }
}

TEST(DatasetMemoryTest, NumbersThatFoundNoMemoryComeAgain) {
  int num_refused = 0;
  EXPECT_EQ(numbers_refused_once(Dataset::range(5), num_refused),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(num_refused, 5);
  EXPECT_EQ(numbers_refused_once(Dataset::range(5).skip(3), num_refused),
            (std::vector<std::int64_t>{3, 4}));
  // Row numbers are booked when the second begins.
  const Dataset rows = Dataset::from_tensor_slices(range(7, 9, 1, int64)).shuffle(2);
  num_refused = 0;
  const auto joined = numbers_refused_once(Dataset::range(1).concatenate(rows), num_refused);
  EXPECT_EQ(joined.size(), 3U);
  EXPECT_GE(num_refused, 3);
}

// An error of the input stays where it was while results wait for memory.
TEST(DatasetMemoryTest, ErrorsKeepTheirPlaceWhereMemoryIsShort) {
  const Dataset odd = Dataset::range(12).map([](const Element& e) {
    if (e.leaf().item<std::int64_t>() % 4 == 1) throw InvalidArgumentError("one");
    return e;
  });
  const auto run =
      odd.map([](const Element& e) { return Element(cast(e.leaf(), float32) + zeros({kFloats})); },
              {.num_parallel_calls = 3})
          .make_iterator();
  for (int i = 0; i < 12; ++i) {
    {
      const Room room(kBytes / 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    while (true) {
      const Room room(3 * kBytes);
      try {
        const auto element = run->next();
        ASSERT_TRUE(element) << i;
        EXPECT_EQ(first_of(*element), static_cast<float>(i));
      } catch (const ResourceExhaustedError&) {
        continue;
      } catch (const InvalidArgumentError&) {
        EXPECT_EQ(i % 4, 1);
      }
      break;
    }
  }
  EXPECT_FALSE(run->next());
}

// Strings of batches are booked before they are copied.
TEST(DatasetMemoryTest, BatchesOfStringsAreBookedFirst) {
  const std::vector<std::string> words(4, std::string(kBytes, 'x'));
  const Tensor all = constant(std::span<const std::string>(words), Shape{4});
  const Dataset rows = Dataset::from_tensor_slices(all);
  const Dataset collected = Dataset::from_elements({reshape(all, {1, 4}), reshape(all, {1, 4})});
  for (const Dataset& dataset : {rows.batch(4), collected.batch(2), collected.padded_batch(2)}) {
    const std::uint64_t before = in_use();
    const auto run = dataset.make_iterator();
    {
      const Room room(2 * kBytes);
      EXPECT_THROW(run->next(), ResourceExhaustedError);
      EXPECT_EQ(in_use(), before);
    }
    auto batch = run->next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->leaf().to_vector<std::string>()[3], words[3]);
    EXPECT_FALSE(run->next());
  }
}

// Whoever is told that memory is short can ask again, and gets the same element.
TEST(DatasetMemoryTest, NothingIsLostWhereMemoryWasShort) {
  const auto larger = [](const Element& e) { return Element(e.leaf() + zeros({kFloats})); };
  const auto is_any = [](const Element& e) {
    return reduce_sum(e.leaf() + zeros({kFloats})).item<float>() >= 0;
  };
  const auto numbers = [] {
    return Dataset::range(12).map(
        [](const Element& i) { return Element(cast(i.leaf(), float32)); });
  };
  const std::pair<const char*, Dataset> cases[] = {
      {"map", numbers().map(larger)},
      {"parallel map", numbers().map(larger, {.num_parallel_calls = 2})},
      {"map of a parallel map",
       numbers().map(larger, {.num_parallel_calls = 2}).map([](const Element& e) { return e; })},
      {"filter", numbers().filter(is_any)},
      {"take_while", numbers().take_while(is_any)},
      {"skip", numbers().map(larger).skip(0)},
      {"zip", Dataset::zip(Nest<Dataset>::List{numbers(), numbers().map(larger)})
                  .map([](const Element& e) { return Element(e[1].leaf() + 0 * e[0].leaf()); })},
      {"enumerate", numbers().map(larger).enumerate().map([](const Element& e) { return e[1]; })},
      {"batch", numbers().map(larger).batch(1)},
      {"interleave",
       numbers().interleave([&](const Element& e) { return Dataset::from_tensors(larger(e)); })},
  };
  for (const auto& [name, dataset] : cases) {
    const auto run = dataset.make_iterator();
    std::vector<float> found;
    int num_refused = 0;
    while (found.size() < 12) {
      {
        const Room room(kBytes / 2);
        try {
          if (auto element = run->next()) {
            found.push_back(first_of(*element));
            continue;
          }
          break;
        } catch (const ResourceExhaustedError&) {
          ++num_refused;
        }
      }
      const auto element = run->next();
      if (!element) break;
      found.push_back(first_of(*element));
    }
    EXPECT_GT(num_refused, 0) << name;
    ASSERT_EQ(found.size(), 12U) << name;
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(found[i], static_cast<float>(i)) << name;
  }
}

}  // namespace
}  // namespace plimsoll::data

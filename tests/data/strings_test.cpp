// Strings: what is made is booked before it is there, and what is refused leaves nothing.
#include "plimsoll/strings.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <clocale>
#include <functional>
#include <random>

#include "plimsoll/data/io.h"
#include "plimsoll/function.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::strings {
namespace {

using Texts = std::vector<std::string>;

Tensor words(const Texts& texts) {
  return constant(std::span<const std::string>(texts), {static_cast<std::int64_t>(texts.size())});
}
Texts list(const Tensor& t) {
  return t.to_vector<std::string>();
}
std::uint64_t in_use() {
  return Context::get().cpu().budget().in_use();
}
std::uint64_t booked(const Texts& texts) {
  std::uint64_t nbytes = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) nbytes += text.size();
  return (nbytes + 63) / 64 * 64;
}

TEST(StringsTest, ResultsAreBookedByPayload) {
  const Tensor input = words({std::string(1000, 'a'), "b", ""});
  const Tensor zero = constant(0), ten = constant(10), many = range(0, 1000);
  const std::uint64_t before = in_use();
  const auto expect_booked = [&](const Tensor& made) {
    EXPECT_EQ(in_use() - before, booked(list(made)));
  };
  expect_booked(upper(input));
  expect_booked(lower(input, "utf-8"));
  expect_booked(strip(input));
  expect_booked(join(std::vector<Tensor>{input, input}, "--"));
  expect_booked(reduce_join(input));
  expect_booked(regex_replace(input, "a", "xyz"));
  expect_booked(substr(input, zero, ten));
  expect_booked(as_string(many));
  expect_booked(format("{}", std::vector<Tensor>{many}, "{}", -1));
  expect_booked(io::encode_base64(input));
  EXPECT_EQ(in_use(), before);
}

// What a call needs is what it makes: with a byte less it is refused, with as many it works.
TEST(StringsTest, ThePeakIsTheResult) {
  const Tensor input = words({std::string(5000, 'a'), "b c", ""});
  const Tensor zero = constant(0), many = constant(4000), numbers = range(0, 500);
  const Tensor encoded = io::encode_base64(input), row = reshape(input, {3, 1});
  const std::pair<const char*, std::function<Tensor()>> calls[] = {
      {"upper", [&] { return upper(input); }},
      {"lower", [&] { return lower(input, "utf-8"); }},
      {"strip", [&] { return strip(input); }},
      {"join",
       [&] {
         return join(std::vector<Tensor>{input, input}, "--");
       }},
      {"reduce_join", [&] { return reduce_join(row, {{1}}); }},
      {"substr", [&] { return substr(slice(input, {0}, {1}), zero, many); }},
      {"as_string", [&] { return as_string(numbers); }},
      {"format", [&] { return format("{}", std::vector<Tensor>{numbers}, "{}", -1); }},
      {"decode_base64", [&] { return io::decode_base64(encoded); }},
      {"slice", [&] { return slice(input, {0}, {2}); }},
  };
  for (const auto& [name, call] : calls) {
    std::uint64_t needed = 0;
    {
      const memory::BudgetScope scope(std::uint64_t{1} << 30);
      const Tensor made = call();
      needed = scope.peak();
      if (name != std::string_view("substr")) {  // which makes a slice first
        EXPECT_EQ(needed, booked(list(made))) << name;
      }
    }
    {
      const memory::BudgetScope scope(needed);
      EXPECT_NO_THROW(call()) << name;
    }
    const memory::BudgetScope scope(needed - 64);
    EXPECT_THROW(call(), ResourceExhaustedError) << name;
    EXPECT_EQ(scope.in_use(), 0U) << name;
  }
}

TEST(StringsTest, ARefusedResultLeavesNothing) {
  const Tensor input = words(Texts(100, std::string(1000, 'a')));
  const Tensor numbers = range(0, 100);
  const std::uint64_t before = in_use();
  {
    const memory::BudgetScope scope(std::uint64_t{64} << 10);  // 100 strings of 1000 do not fit
    const auto expect_refused = [&](const auto& make) {
      EXPECT_THROW(make(), ResourceExhaustedError);
      EXPECT_EQ(in_use(), before);
      EXPECT_EQ(scope.in_use(), 0U);
    };
    expect_refused([&] { upper(input); });
    expect_refused([&] { upper(input, "utf-8"); });
    expect_refused([&] { strip(input); });
    expect_refused([&] { join(std::vector<Tensor>{input, input}); });
    expect_refused([&] { reduce_join(input); });
    expect_refused([&] { split(input, "b"); });
    expect_refused([&] { bytes_split(input); });
    expect_refused([&] { substr(input, constant(0), constant(999)); });
    expect_refused([&] { regex_replace(input, "a", "b"); });
    expect_refused([&] { as_string(numbers, {.width = 1000}); });
    expect_refused([&] { as_string(cast(constant(1), float32), {.precision = 1 << 29}); });
    expect_refused([&] { io::encode_base64(input); });
    expect_refused([&] { io::decode_base64(input); });
    expect_refused([&] { constant(std::span<const std::string>(list(input)), {100}); });
    expect_refused([&] { fill({1000}, std::string(100, 'x')); });
    expect_refused([&] { fill({std::int64_t{1} << 50}, std::string()); });
    EXPECT_THROW(fill({std::int64_t{1} << 60}, std::string()), InvalidArgumentError);
    EXPECT_EQ(list(upper(words({"fits"}))), Texts{"FITS"});
    EXPECT_LE(scope.peak(), std::uint64_t{64} << 10);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(StringsTest, AnExpansionIsRefusedBeforeItIsMade) {
  // 1 MiB of letters by 1 MiB for each would be 1 TiB.
  const Tensor text = constant(std::string(1 << 20, 'a'));
  const std::string rewrite(1 << 20, 'b');
  const memory::BudgetScope scope(std::uint64_t{16} << 20);
  EXPECT_THROW(regex_replace(text, "a", rewrite), ResourceExhaustedError);
  std::string all_twice;
  for (int i = 0; i < 1000; ++i) all_twice += "\\0";
  EXPECT_THROW(regex_replace(text, "(?s).*", all_twice), ResourceExhaustedError);
  EXPECT_EQ(scope.in_use(), 0U);
}

TEST(StringsTest, AnErrorHalfwayLeavesNothing) {
  const Tensor input = words({std::string(5000, '1'), "x"});
  const std::uint64_t before = in_use();
  EXPECT_THROW(substr(input, constant(2), constant(3)), InvalidArgumentError);
  EXPECT_THROW(to_number(input), InvalidArgumentError);
  EXPECT_THROW(io::decode_base64(words({std::string(5000, 'A'), "?"})), InvalidArgumentError);
  EXPECT_EQ(in_use(), before);
}

TEST(StringsTest, MessagesShowWhatWasReceived) {
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const InvalidArgumentError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([] { to_number(words({"1\xff\n"})); }).find("string: 1\\xff\\x0a"),
            std::string::npos);
  EXPECT_LT(message([] { to_number(words({std::string(1 << 20, 'x')})); }).size(), 300U);
  EXPECT_NE(message([] { lower(constant(1)); }).find("is a int32 tensor"), std::string::npos);
  EXPECT_NE(message([] { lower(words({"a"}), "latin1"); }).find("received latin1"),
            std::string::npos);
  EXPECT_NE(message([] { lower(Tensor()); }).find("empty Tensor"), std::string::npos);
}

// Texts of few letters, some of them no letters at all.
std::string random_text(std::mt19937& random, std::size_t most) {
  static const Texts kParts = {"a", "b", "ab", " ", "\n", "\xc3\xa9", "\xff", "\xe2\x82\xac", "1"};
  std::string text;
  for (std::size_t n = random() % (most + 1); n > 0; --n) text += kParts[random() % kParts.size()];
  return text;
}

TEST(StringsTest, ReplacesAsRe2Does) {
  std::mt19937 random(7);
  const Texts patterns = {"",      "a",   "a*", "a|b*",     "(a)(b)?", "[^a]", ".",
                          "(?m)^", "\\b", "$",  "(a*)(b*)", "\\s+",    "\\C",  "\xc3\xa9?"};
  const Texts rewrites = {"", "-", "<\\0>", "\\\\", "longer than what was there", "\\0\\0"};
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_text(random, 12);
    const std::string& pattern = patterns[random() % patterns.size()];
    const std::string& rewrite = rewrites[random() % rewrites.size()];
    std::string all = text, first = text;
    RE2::GlobalReplace(&all, pattern, rewrite);
    RE2::Replace(&first, pattern, rewrite);
    EXPECT_EQ(regex_replace(constant(text), pattern, rewrite).item<std::string>(), all)
        << pattern << " by " << rewrite;
    EXPECT_EQ(regex_replace(constant(text), pattern, rewrite, false).item<std::string>(), first)
        << pattern << " by " << rewrite;
  }
}

TEST(StringsTest, PartsComeBackTogether) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random, 12);
    for (const char* sep : {"a", "ab", " "}) {
      const RaggedTensor parts = split(constant(text), sep);
      EXPECT_EQ(reduce_join(parts.flat_values(), {}, false, sep).item<std::string>(), text);
    }
    const RaggedTensor bytes = bytes_split(constant(text));
    EXPECT_EQ(reduce_join(bytes.flat_values()).item<std::string>(), text);
    EXPECT_EQ(io::decode_base64(io::encode_base64(constant(text), i % 2)).item<std::string>(),
              text);
  }
}

TEST(StringsTest, NumbersAreReadInAnyLocale) {
  const std::string old = std::setlocale(LC_ALL, nullptr);
  // Not on every machine; where it is, the point would be a comma.
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(to_number(words({"1.5"})).to_vector<float>(), std::vector<float>{1.5F});
  EXPECT_EQ(list(as_string(constant(1.5F), {.precision = 1})), Texts{"1.5"});
  EXPECT_EQ(list(lower(words({"\xc4"}))), Texts{"\xc4"});
  std::setlocale(LC_ALL, old.c_str());
}

TEST(StringsTest, SlicesAreThoseOfNumbers) {
  const Tensor numbers = reshape(range(0, 24), {2, 3, 4}), texts = as_string(numbers);
  const auto expect_same = [&](const std::vector<Index>& places) {
    const Tensor part = getitem(texts, places);
    EXPECT_EQ(part.shape(), getitem(numbers, places).shape());
    EXPECT_EQ(to_number(part, int32).to_vector<int>(), getitem(numbers, places).to_vector<int>());
  };
  expect_same({Index(1)});
  expect_same({Index(-1), Index(0), Index(2)});
  expect_same({Index({}, {}, -1), ellipsis, Index(3, {}, -2)});
  expect_same({ellipsis, Index(1, 3), newaxis});
  expect_same({Index(2, 1)});
  EXPECT_THROW(getitem(texts, std::vector<Index>{Index(2)}), InvalidArgumentError);
}

TEST(StringsTest, MovesAreThoseOfNumbers) {
  const Tensor numbers = reshape(range(0, 12), {3, 4}), texts = as_string(numbers);
  const auto expect_same = [&](const auto& op) {
    const Tensor of_numbers = op(numbers), of_texts = op(texts);
    EXPECT_EQ(of_texts.shape(), of_numbers.shape());
    EXPECT_EQ(to_number(of_texts, int32).to_vector<int>(), of_numbers.to_vector<int>());
  };
  expect_same([](const Tensor& t) { return gather(t, constant({2, 0, 2})); });
  expect_same([](const Tensor& t) { return gather(t, constant({3, 1}), 1); });
  expect_same([](const Tensor& t) {
    return gather_nd(t, reshape(constant({2, 3, 0, 1}), {2, 2}));
  });
  expect_same([](const Tensor& t) { return concat({t, t, getitem(t, {Index(0, 1)})}, 0); });
  expect_same([](const Tensor& t) { return concat({t, t}, 1); });
  expect_same([](const Tensor& t) { return stack({t, t}, 2); });
  expect_same([](const Tensor& t) { return transpose(t); });
  expect_same([](const Tensor& t) { return tile(t, {2, 3}); });
  expect_same([](const Tensor& t) { return reverse(t, {1}); });
  expect_same([](const Tensor& t) { return broadcast_to(t, {2, 3, 4}); });
  expect_same([](const Tensor& t) { return plimsoll::split(t, 2, 1)[1]; });
  expect_same([](const Tensor& t) {
    return where(constant({true, false, true, false}), t, getitem(t, {Index(1, 2)}));
  });
  EXPECT_THROW(gather(texts, constant(3)), InvalidArgumentError);
  EXPECT_THROW(concat({texts, numbers}, 0), InvalidArgumentError);
  EXPECT_THROW(texts * texts, UnimplementedError);
}

TEST(StringsTest, ComparesBytes) {
  const Tensor names = words({"cat", "dog", std::string("d\0g", 3), ""});
  EXPECT_EQ((equal(names, constant(std::string("dog")))).to_vector<bool>(),
            (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ((not_equal(reshape(names, {4, 1}), names)).to_vector<bool>(),
            (std::vector<bool>{false, true, true, true, true, false, true, true, true, true, false,
                               true, true, true, true, false}));
  EXPECT_EQ(argmax(cast(equal(constant(std::string("dog")), names), int32)).item<std::int64_t>(),
            1);
  EXPECT_THROW(equal(names, words({"cat", "dog"})), InvalidArgumentError);
  EXPECT_THROW(equal(names, constant(1)), InvalidArgumentError);
  EXPECT_THROW(less(names, names), UnimplementedError);
}

TEST(StringsTest, MovesInEveryRoomOrNot) {
  const Tensor texts = words(Texts(100, std::string(1000, 'x')));
  memory::Budget budget = Context::get().cpu().budget();
  const std::uint64_t before = budget.in_use(), limit = budget.limit();
  const auto go = [&] { return concat({texts, texts}, 0).num_elements(); };
  budget.reset_peak();
  EXPECT_EQ(go(), 200);
  const std::uint64_t needed = budget.peak() - before;
  EXPECT_GE(needed, 200'000U);
  EXPECT_LE(needed, 220'000U);
  for (std::uint64_t nbytes = 0; nbytes < needed; nbytes += needed / 20) {
    budget.set_limit(before + nbytes);
    EXPECT_THROW(go(), ResourceExhaustedError) << nbytes << " of " << needed;
    EXPECT_EQ(budget.in_use(), before);
  }
  budget.set_limit(before + needed);
  EXPECT_EQ(go(), 200);
  budget.set_limit(limit);
}

TEST(StringsTest, NoPartOfFunctions) {
  const Function f(
      [](std::span<const Tensor> in) { return std::vector<Tensor>{length(as_string(in[0]))}; });
  const std::vector<Tensor> in{constant(1)};
  EXPECT_THROW(f(in), UnimplementedError);
}

}  // namespace
}  // namespace plimsoll::strings

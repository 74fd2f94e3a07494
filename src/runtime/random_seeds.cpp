#include "runtime/random_seeds.h"

#include <map>
#include <mutex>
#include <random>
#include <tuple>

#include "base/mutex.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kMaxInt32 = 0x7FFFFFFF;
constexpr std::int64_t kDefaultGlobalSeed = 87654321;

// Brings a Mersenne Twister into the state that Python's random.Random(seed)
// has: the generator's authors' initialisation by an array, of the 32-bit words
// of |seed|.
class PythonSeed {
 public:
  using result_type = std::uint_least32_t;

  explicit PythonSeed(std::int64_t seed) noexcept {
    const std::uint64_t magnitude =
        seed < 0 ? 0 - static_cast<std::uint64_t>(seed) : static_cast<std::uint64_t>(seed);
    words_[0] = static_cast<std::uint32_t>(magnitude);
    words_[1] = static_cast<std::uint32_t>(magnitude >> 32);
    num_words_ = words_[1] ? 2 : 1;
  }
  void generate(std::uint_least32_t* begin, std::uint_least32_t* end) const noexcept {
    constexpr std::uint32_t kSize = std::mt19937::state_size;
    if (end - begin != kSize) return;
    std::uint_least32_t* s = begin;
    s[0] = 19650218;
    for (std::uint32_t i = 1; i < kSize; ++i) s[i] = 1812433253U * (s[i - 1] ^ s[i - 1] >> 30) + i;
    std::uint32_t i = 1, j = 0;
    const auto next = [&] {
      if (++i < kSize) return;
      s[0] = s[kSize - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < kSize; ++k) {
      s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1664525U) + words_[j] + j;
      next();
      j = j + 1 < num_words_ ? j + 1 : 0;
    }
    for (std::uint32_t k = 0; k + 1 < kSize; ++k) {
      s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1566083941U) - i;
      next();
    }
    s[0] = 0x80000000U;
  }

 private:
  std::uint32_t words_[2];
  std::uint32_t num_words_;
};

struct Seeds {
  Mutex mutex;
  std::optional<std::int64_t> global;
  std::mt19937 next_op;  // seeds of calls that have none
  // How far each sequence has come.
  std::map<std::tuple<OpId, DType, std::int64_t, std::int64_t>, std::uint64_t> used;
};
Seeds& seeds() {
  static Seeds& made = *new Seeds;
  return made;
}

std::int64_t truncated(std::int64_t seed) noexcept {  // as Python's remainder
  const std::int64_t rest = seed % kMaxInt32;
  return rest < 0 ? rest + kMaxInt32 : rest;
}

// The next one for a call that has none: Python's randint(0, 2^31 - 1). pre: the lock is held.
std::int64_t draw_seed(Seeds& s) {
  std::uint32_t drawn = 0;
  do {
    drawn = static_cast<std::uint32_t>(s.next_op());
  } while (drawn > kMaxInt32);
  return drawn;
}

RandomState any_state() {
  std::random_device device;
  const auto wide = [&] {
    return static_cast<std::int64_t>(std::uint64_t{device()} << 32 | device());
  };
  return {wide(), 0, wide()};
}

}  // namespace

void set_global_seed(std::int64_t seed) {
  Seeds& s = seeds();
  std::scoped_lock lock(s.mutex);
  PythonSeed start(seed);
  s.next_op.seed(start);
  s.global = seed;
  s.used.clear();
}

RandomState next_random_state(OpId op, DType dtype, std::optional<std::int64_t> op_seed,
                              std::uint64_t num_counters) {
  Seeds& s = seeds();
  std::scoped_lock lock(s.mutex);
  if (!s.global && !op_seed) return any_state();
  const bool has_own = op_seed.has_value();
  if (!has_own) op_seed = draw_seed(s);
  const std::int64_t key = truncated(s.global.value_or(kDefaultGlobalSeed));
  std::int64_t high = truncated(*op_seed);
  if (key == 0 && high == 0) high = kMaxInt32;
  if (!has_own) return {key, 0, high};  // such a seed hardly comes again
  std::uint64_t& used = s.used[{op, dtype, key, high}];
  const auto low = static_cast<std::int64_t>(used);
  used += num_counters;
  return {key, low, high};
}

std::uint64_t make_seed(std::optional<std::int64_t> own) {
  Seeds& s = seeds();
  std::scoped_lock lock(s.mutex);
  if (!s.global) {
    if (own) return static_cast<std::uint64_t>(*own);
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
  const auto mixed = static_cast<std::uint64_t>(*s.global) * 0x9e3779b97f4a7c15ULL;
  return mixed ^ static_cast<std::uint64_t>(own ? *own : draw_seed(s));
}

}  // namespace plimsoll

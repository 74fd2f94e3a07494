// Strings as numbers of buckets, with TensorFlow's three functions.
#include <bit>
#include <cstring>

#include "data/strings_util.h"
#include "plimsoll/data/io.h"
#include "plimsoll/ops.h"
#include "plimsoll/strings.h"

namespace plimsoll::strings {
namespace {

// Up to 8 bytes, the first one lowest.
std::uint64_t load(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  return value;
}

// MurmurHash64A, with TensorFlow's seed.
std::uint64_t murmur(std::string_view text) noexcept {
  constexpr std::uint64_t kSeed = 0xDECAFCAFFE, kMul = 0xc6a4a7935bd1e995;
  std::uint64_t hash = kSeed ^ text.size() * kMul;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t k = load(text) * kMul;
    k = (k ^ k >> 47) * kMul;
    hash = (hash ^ k) * kMul;
  }
  if (!text.empty()) hash = (hash ^ load(text)) * kMul;
  hash = (hash ^ hash >> 47) * kMul;
  return hash ^ hash >> 47;
}

// SipHash-2-4.
class SipHash {
 public:
  explicit SipHash(const std::array<std::uint64_t, 2>& key) noexcept
      : v0_(key[0] ^ 0x736f6d6570736575),
        v1_(key[1] ^ 0x646f72616e646f6d),
        v2_(key[0] ^ 0x6c7967656e657261),
        v3_(key[1] ^ 0x7465646279746573) {}

  std::uint64_t operator()(std::string_view text) && noexcept {
    const std::uint64_t size = text.size();
    for (; text.size() >= 8; text.remove_prefix(8)) take(load(text));
    take(load(text) | size << 56);
    v2_ ^= 0xFF;
    for (int i = 0; i < 4; ++i) mix();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void take(std::uint64_t word) noexcept {
    v3_ ^= word;
    mix();
    mix();
    v0_ ^= word;
  }
  void mix() noexcept {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

template <class Hash>
Tensor buckets(const Tensor& input, std::int64_t num_buckets, const char* op, const Hash& hash) {
  PLIMSOLL_CHECK(num_buckets >= 1, InvalidArgumentError,
                 "Value for attr 'num_buckets' of {} must be at least minimum 1 [Op:{}]",
                 num_buckets, op);
  std::vector<std::int64_t> found;
  for (const std::string& text : strings_of(input, op))
    found.push_back(
        static_cast<std::int64_t>(hash(text) % static_cast<std::uint64_t>(num_buckets)));
  return constant(std::span<const std::int64_t>(found), input.shape());
}

}  // namespace

Tensor to_hash_bucket_fast(const Tensor& input, std::int64_t num_buckets) {
  return buckets(input, num_buckets, "StringToHashBucketFast", io::fingerprint64);
}
Tensor to_hash_bucket(const Tensor& input, std::int64_t num_buckets) {
  return buckets(input, num_buckets, "StringToHashBucket", murmur);
}
Tensor to_hash_bucket_strong(const Tensor& input, std::int64_t num_buckets,
                             const std::array<std::uint64_t, 2>& key) {
  return buckets(input, num_buckets, "StringToHashBucketStrong",
                 [&](std::string_view text) { return SipHash(key)(text); });
}

}  // namespace plimsoll::strings

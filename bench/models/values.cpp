#include "models/values.h"

#include <cstdint>
#include <vector>

#include "plimsoll/ops/create.h"

namespace plimsoll::bench {
namespace {

std::uint32_t seed_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::uint32_t hash_of(std::uint32_t seed, std::size_t i) {
  std::uint32_t h = static_cast<std::uint32_t>(i + 1) * 2654435761U ^ seed;
  h = (h ^ (h >> 16)) * 0x85EBCA6BU;
  h = (h ^ (h >> 13)) * 0xC2B2AE35U;
  return h ^ (h >> 16);
}

}  // namespace

Tensor uniform_values(std::string_view name, const Shape& shape, double limit) {
  const std::uint32_t seed = seed_of(name);
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = (hash_of(seed, i) >> 8) * (1.0 / (1 << 23)) - 1.0;
    values[i] = static_cast<float>(unit * limit);
  }
  return constant<float>(values, shape);
}

Tensor label_values(std::string_view name, std::int64_t num, std::int64_t num_classes) {
  const std::uint32_t seed = seed_of(name);
  std::vector<std::int32_t> values(static_cast<std::size_t>(num));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<std::int32_t>(hash_of(seed, i) % static_cast<std::uint32_t>(num_classes));
  return constant<std::int32_t>(values, {num});
}

}  // namespace plimsoll::bench

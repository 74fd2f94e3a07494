// FarmHash's 64-bit fingerprint, which TensorFlow's buckets of strings are made with.
#include <cstring>

#include "plimsoll/data/io.h"

namespace plimsoll::io {
namespace {

constexpr std::uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

std::uint64_t load64(const char* at) {
  std::uint64_t value;
  std::memcpy(&value, at, 8);
  return value;
}
std::uint64_t load32(const char* at) {
  std::uint32_t value;
  std::memcpy(&value, at, 4);
  return value;
}
std::uint64_t rotate(std::uint64_t value, int bits) {
  return bits == 0 ? value : value >> bits | value << (64 - bits);
}
std::uint64_t shift_mix(std::uint64_t value) {
  return value ^ value >> 47;
}
std::uint64_t mix(std::uint64_t u, std::uint64_t v, std::uint64_t by) {
  const std::uint64_t a = shift_mix((u ^ v) * by);
  return shift_mix((v ^ a) * by) * by;
}

std::uint64_t up_to_16(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  if (size >= 8) {
    const std::uint64_t a = load64(s) + k2, b = load64(s + size - 8);
    const std::uint64_t c = rotate(b, 37) * by + a, d = (rotate(a, 25) + b) * by;
    return mix(c, d, by);
  }
  if (size >= 4) return mix(size + (load32(s) << 3), load32(s + size - 4), by);
  if (size == 0) return k2;
  const auto at = [&](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(s[i])}; };
  const std::uint32_t y = at(0) + (at(size >> 1) << 8);
  const std::uint32_t z = static_cast<std::uint32_t>(size) + (at(size - 1) << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

std::uint64_t up_to_32(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  const std::uint64_t a = load64(s) * k1, b = load64(s + 8);
  const std::uint64_t c = load64(s + size - 8) * by, d = load64(s + size - 16) * k2;
  return mix(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, by);
}

std::uint64_t up_to_64(const char* s, std::size_t size) {
  const std::uint64_t by = k2 + size * 2;
  const std::uint64_t a = load64(s) * k2, b = load64(s + 8);
  const std::uint64_t c = load64(s + size - 8) * by, d = load64(s + size - 16) * k2;
  const std::uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const std::uint64_t z = mix(y, a + rotate(b + k2, 18) + c, by);
  const std::uint64_t e = load64(s + 16) * by, f = load64(s + 24);
  const std::uint64_t g = (y + load64(s + size - 32)) * by;
  const std::uint64_t h = (z + load64(s + size - 24)) * by;
  return mix(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, by);
}

struct Pair {
  std::uint64_t first, second;
};
Pair weak(const char* s, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t w = load64(s), x = load64(s + 8), y = load64(s + 16), z = load64(s + 24);
  a += w;
  b = rotate(b + a + z, 21);
  const std::uint64_t c = a;
  a += x + y;
  b += rotate(a, 44);
  return {a + z, b + c};
}

}  // namespace

std::uint64_t fingerprint64(std::string_view text) {
  const char* s = text.data();
  const std::size_t size = text.size();
  if (size <= 16) return up_to_16(s, size);
  if (size <= 32) return up_to_32(s, size);
  if (size <= 64) return up_to_64(s, size);
  constexpr std::uint64_t seed = 81;
  std::uint64_t x = seed, y = seed * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  x = x * k2 + load64(s);
  const char* const end = s + (size - 1) / 64 * 64;
  const char* const last = end + ((size - 1) & 63) - 63;
  for (; s != end; s += 64) {
    x = rotate(x + y + v.first + load64(s + 8), 37) * k1;
    y = rotate(y + v.second + load64(s + 48), 42) * k1;
    x ^= w.second;
    y += v.first + load64(s + 40);
    z = rotate(z + w.first, 33) * k1;
    v = weak(s, v.second * k1, x + w.first);
    w = weak(s + 32, z + w.second, y + load64(s + 16));
    std::swap(z, x);
  }
  const std::uint64_t by = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (size - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  x = rotate(x + y + v.first + load64(s + 8), 37) * by;
  y = rotate(y + v.second + load64(s + 48), 42) * by;
  x ^= w.second * 9;
  y += v.first * 9 + load64(s + 40);
  z = rotate(z + w.first, 33) * by;
  v = weak(s, v.second * by, x + w.first);
  w = weak(s + 32, z + w.second, y + load64(s + 16));
  std::swap(z, x);
  return mix(mix(v.first, w.first, by) + shift_mix(y) * k0 + z, mix(v.second, w.second, by) + x,
             by);
}

}  // namespace plimsoll::io

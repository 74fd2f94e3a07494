// The sim backend: a device that exists only in its numbers. Memory has the capacity, granularity
// and kind of a profile; kernels are the CPU's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backend/api/kernel.h"
#include "plimsoll/memory/source.h"

namespace plimsoll::sim {

enum class MemoryKind : std::uint8_t { kSeparate, kUnified };

struct Profile {
  std::string_view name;         // "jetson-nano-4gb"
  std::string_view device_name;  // as the vendor's driver calls it
  std::uint64_t capacity;        // bytes that programs can use
  std::uint64_t granularity;     // bytes
  MemoryKind memory;
  int compute_major, compute_minor;
  std::string_view source;  // of these figures
};

std::span<const Profile> profiles() noexcept;
// throws: InvalidArgumentError that suggests the nearest name and lists all.
const Profile& find_profile(std::string_view name);

memory::SourcePtr make_source(const Profile& profile);
Backend make_backend();

}  // namespace plimsoll::sim

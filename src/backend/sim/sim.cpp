#include "backend/sim/sim.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backend/cpu/cpu.h"
#include "base/check.h"
#include "base/nearest.h"

namespace plimsoll::sim {
namespace {

using enum MemoryKind;

#define PLIMSOLL_PROFILE(name, device, mib, kib, memory, major, minor, source) \
  {name, device, std::uint64_t{mib} << 20, std::uint64_t{kib} << 10, memory, major, minor, source},
constexpr Profile kProfiles[] = {
#include "backend/sim/profiles.def"
};
#undef PLIMSOLL_PROFILE

}  // namespace

std::span<const Profile> profiles() noexcept {
  return kProfiles;
}

const Profile& find_profile(std::string_view name) {
  std::vector<std::string_view> names;
  std::string all;
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
    all += (all.empty() ? "" : ", ") + std::string(profile.name);
  }
  const std::string_view meant = nearest(name, names);
  throw InvalidArgumentError(
      fmt::format("no device profile is called '{}'{}; known are {}", name,
                  meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant), all));
}

memory::SourcePtr make_source(const Profile& profile) {
  return memory::make_sim_source({.name = std::string(profile.name),
                                  .capacity = profile.capacity,
                                  .granularity = profile.granularity});
}

Backend make_backend() {
  Backend backend = cpu::make_backend();
  backend.name = "sim";
  return backend;
}

}  // namespace plimsoll::sim

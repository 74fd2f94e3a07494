// Who a byte belongs to: a tag, and the name of the op or layer that asked for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::memory {

enum class Tag : std::uint8_t {
  kWeights,
  kGradients,
  kOptimizer,
  kActivations,
  kWorkspace,
  kStaging,
  kDataset,
  kIo,
  kCache,
};
inline constexpr std::size_t kNumTags = 9;

using TagBytes = std::array<std::uint64_t, kNumTags>;  // indexed by Tag

std::string_view tag_name(Tag tag) noexcept;  // "weights", ...
// throws: InvalidArgumentError that lists the tags.
Tag parse_tag(std::string_view name);

// A tag and a name as one small number, so that booking a byte to its owner costs an addition.
// Making one looks the name up in a process-wide table: make it once, use it often. The table
// holds at most 65,536 names; later ones share the name "(other)".
class Owner {
 public:
  Owner() noexcept : Owner(Tag::kActivations) {}
  Owner(Tag tag) noexcept : id_(static_cast<std::uint32_t>(tag)) {}  // unnamed
  Owner(Tag tag, std::string_view name);

  Tag tag() const noexcept { return static_cast<Tag>(id_ & 15U); }
  std::string name() const;       // "" if unnamed
  std::string to_string() const;  // "activations 'conv2d_3/Relu'"

  std::uint32_t id() const noexcept { return id_; }
  static Owner from_id(std::uint32_t id) noexcept;  // pre: an id() of this process
  friend bool operator==(Owner, Owner) = default;

 private:
  std::uint32_t id_;  // index of the name << 4 | tag
};

}  // namespace plimsoll::memory

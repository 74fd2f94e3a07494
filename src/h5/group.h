// The links of a group, in the old form (symbol tables) and the new one (link messages).
#pragma once

#include "h5/object_header.h"

namespace plimsoll::h5 {

enum class LinkKind : std::uint8_t { kHard, kSoft, kExternal };

struct Link {
  std::string name;
  LinkKind kind = LinkKind::kHard;
  std::uint64_t address = kUndefined;  // of the object; hard links only
  std::string target;                  // soft links only
};

inline constexpr std::size_t kMaxLinks = 1u << 20;

// Whether the object with these messages is a group.
bool is_group(const std::vector<Message>& messages) noexcept;

// Sorted by name. memory: the names, at most kMaxLinks and kMaxMetadataBytes.
// throws: DataLossError, also for names that are empty or stand twice.
std::vector<Link> read_links(const Source& source, const std::vector<Message>& messages);

}  // namespace plimsoll::h5

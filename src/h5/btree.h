// B-trees. Version 1 holds the entries of groups and the chunks of datasets; version 2 holds both
// in files of newer libraries. Entries are visited in the order of their keys.
#pragma once

#include <functional>

#include "h5/bytes.h"

namespace plimsoll::h5 {

enum class TreeKind : std::uint8_t { kGroup = 0, kChunks = 1 };

inline constexpr std::uint64_t kMaxTreeNodes = 1u << 22;
inline constexpr int kMaxTreeDepth = 32;

// Calls `visit` with the key before each child of the leaves, and the child's address.
// throws: DataLossError, also for cycles.
void walk_tree_v1(const Source& source, std::uint64_t address, TreeKind kind,
                  std::size_t key_nbytes,
                  const std::function<void(Cursor key, std::uint64_t child)>& visit);

// Calls `visit` with each record.
void walk_tree_v2(const Source& source, std::uint64_t address, int type,
                  const std::function<void(Cursor record)>& visit);

}  // namespace plimsoll::h5

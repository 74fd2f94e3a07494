// Bytes of a block as a block.
#pragma once

#include "plimsoll/memory/heap.h"

namespace plimsoll::memory {

// It gives nothing back and counts nowhere: the whole does both. pre: the whole lives at least as
// long.
Block part_of(const Block& whole, std::uint64_t offset, std::uint64_t nbytes) noexcept;

}  // namespace plimsoll::memory

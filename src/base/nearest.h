// "Did you mean ...?": the known word nearest to one that is not known.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace plimsoll {

// Letters to insert, delete or replace to get from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the nearest; empty if none is near enough to be what was meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace plimsoll

// Files of sorted keys and values, in the layout that LevelDB has given them: blocks of entries
// whose keys share prefixes, a block that says where they are, and a footer.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace plimsoll::data {

using SortedTable = std::map<std::string, std::string>;

// The bytes of such a file, not compressed.
std::string write_table(const SortedTable& table);
// throws: DataLossError, with `name`, for what is damaged; UnimplementedError for compressed
// blocks.
SortedTable read_table(std::string_view bytes, const std::string& name);

// Numbers of seven bits a byte, lowest first.
void put_varint(std::string& to, std::uint64_t value);
// Takes one from the front. False if there is none.
bool take_varint(std::string_view& from, std::uint64_t& value) noexcept;

}  // namespace plimsoll::data

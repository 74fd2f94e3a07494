#include "h5/strings.h"

#include "base/check.h"
#include "h5/heap.h"

namespace plimsoll::h5 {
namespace {

std::string fixed_string(std::span<const std::byte> raw, char padding) {
  std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
  if (padding == ' ') {
    text = text.substr(0, text.find_last_not_of(' ') + 1);
  } else {
    // NULs inside stay, as NumPy has it; those at the end fill up.
    text = text.substr(0, text.find_last_not_of('\0') + 1);
  }
  return std::string(text);
}

}  // namespace

std::vector<std::string> read_strings(const Source& source, const Type& type,
                                      std::span<const std::byte> raw) {
  const std::size_t count = raw.size() / type.nbytes;
  PLIMSOLL_CHECK(count <= kMaxStrings, ResourceExhaustedError,
                 "'{}' has {} strings in one place; at most {} are read", source.name(), count,
                 kMaxStrings);
  std::vector<std::string> strings;
  strings.reserve(count);
  GlobalHeap heap(source);
  std::uint64_t total = 0;
  for (std::size_t at = 0; at < raw.size(); at += type.nbytes) {
    const auto element = raw.subspan(at, type.nbytes);
    if (type.kind == TypeKind::kFixedString) {
      strings.push_back(fixed_string(element, type.padding));
      continue;
    }
    Cursor cursor(source, 0, element);
    const std::uint32_t length = cursor.u32();
    const std::uint64_t address = cursor.u64();
    const std::uint32_t index = cursor.u32();
    if (length == 0) {
      strings.emplace_back();
      continue;
    }
    const auto object = heap.object(address, index);
    source.require(length <= object.size(), address, "a string inside its object");
    total += length;
    source.require(total <= source.size(), address, "strings that do not share their bytes");
    strings.push_back(Cursor(source, address, object).text(length));
  }
  return strings;
}

}  // namespace plimsoll::h5

// Reads all that a file has, whatever state it is in; for damaged files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "h5/file.h"
#include "plimsoll/error.h"

namespace plimsoll::h5 {

inline constexpr std::uint64_t kReadAllBytes =
    1u << 24;  // of a dataset; what is larger is passed over

// How many objects and attributes could be read, and how many could not.
struct ReadAll {
  int num_good = 0;
  int num_bad = 0;

  template <class Read>
  void count(Read read) {
    try {
      read();
      ++num_good;
    } catch (const Error&) {
      ++num_bad;
    }
  }
};

inline void read_object(const Object& object, ReadAll& result) {
  if (object.is_dataset()) {
    result.count([&] {
      const Dataset dataset = object.dataset();
      if (dataset.nbytes() > kReadAllBytes) return;
      std::vector<std::byte> bytes(dataset.nbytes());
      dataset.type().is_string() ? void(dataset.strings()) : dataset.read_into(bytes);
    });
  }
  std::vector<std::string> names;
  result.count([&] { names = object.attribute_names(); });
  for (const std::string& name : names) {
    result.count([&] {
      const Attribute attribute = object.attribute(name);
      attribute.type().is_string() ? void(attribute.strings()) : void(attribute.numbers());
    });
  }
  if (!object.is_group()) return;
  result.count([&] {
    for (const Link& link : object.links()) {
      if (link.kind == LinkKind::kSoft) result.count([&] { object.follow(link); });
    }
  });
}

inline ReadAll read_all(std::vector<std::byte> bytes) {
  ReadAll result;
  result.count([&] {
    const File file("memory", std::move(bytes));
    for_each_object(file.root(), [&](const Object& object) { read_object(object, result); });
  });
  return result;
}

// Reads `whole` cut to every length, and with every byte changed in three ways. Gives how many of
// these were read without an error.
inline int read_damaged(const std::vector<std::byte>& whole) {
  int num_clean = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    num_clean +=
        read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}).num_bad == 0;
  }
  std::vector<std::byte> bytes = whole;
  for (std::byte& byte : bytes) {
    const auto good = static_cast<unsigned>(byte);
    for (const unsigned bad : {good ^ 0xffu, good + 1, good ^ 0x08u}) {
      byte = static_cast<std::byte>(bad);
      num_clean += read_all(bytes).num_bad == 0;
    }
    byte = static_cast<std::byte>(good);
  }
  return num_clean;
}

}  // namespace plimsoll::h5

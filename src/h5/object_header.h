// Object headers: the list of messages that makes a group, a dataset or its attributes.
#pragma once

#include "h5/bytes.h"

namespace plimsoll::h5 {

enum class MessageType : std::uint16_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kFilters = 0x0b,
  kAttribute = 0x0c,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};

struct Message {
  MessageType type;
  bool is_shared;        // the body is a pointer to a message elsewhere
  std::uint64_t offset;  // of the body, in the file
  std::vector<std::byte> body;

  Cursor cursor(const Source& source) const { return Cursor(source, offset, body); }
};

// All messages of a header of version 1 or 2, from its blocks of continuation too.
// memory: the messages, at most kMaxMetadataBytes.
std::vector<Message> read_object_header(const Source& source, std::uint64_t address);

// The first message of `type`, or null.
const Message* find_message(const std::vector<Message>& messages, MessageType type) noexcept;

}  // namespace plimsoll::h5

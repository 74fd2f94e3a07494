#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "memory/trace_format.h"
#include "plimsoll/memory/trace.h"

namespace plimsoll::memory {
namespace {

using namespace trace_format;

constexpr std::uint64_t kMaxIndex = 1U << 21;  // owners are 65,536 names by 16 tags

// A cursor over the bytes of a trace file that never reads past them.
class Cursor {
 public:
  Cursor(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::uint8_t byte() {
    PLIMSOLL_CHECK(!at_end(), DataLossError, "memory trace '{}' is cut short at byte {}", path_,
                   at_);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      value |= static_cast<std::uint64_t>(b & 0x7F) << shift;
      if (b < 0x80) return value;
    }
    fail("a number of at most 64 bits");
  }
  std::uint64_t number_below(std::uint64_t end, const char* what) {
    const std::uint64_t value = number();
    if (value >= end) fail(what);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size() - at_) fail("a name that ends inside the file");
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  [[noreturn]] void fail(const char* expected) const {
    throw DataLossError(
        fmt::format("memory trace '{}': expected {} before byte {}", path_, expected, at_));
  }

 private:
  const std::string& path_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

template <class T>
T& grow_to(std::vector<T>& items, std::uint64_t index) {
  if (index >= items.size()) items.resize(index + 1);
  return items[index];
}

void read_record(Cursor& in, Trace& trace, std::uint64_t& next_id, std::uint64_t& now) {
  const std::uint8_t kind = in.byte();
  if (kind == kName) {
    Trace::Name& owner = grow_to(trace.owners, in.number_below(kMaxIndex, "an owner's number"));
    owner.tag = static_cast<Tag>(in.number_below(kNumTags, "a tag's number"));
    owner.name = in.text();
    return;
  }
  if (kind == kHeap) {
    std::string& heap = grow_to(trace.heaps, in.number_below(kMaxIndex, "a heap's number"));
    heap = in.text();
    return;
  }
  if (kind > kStep) in.fail("a kind of record from 0 to 5");
  now += in.number();
  TraceEvent event{.kind = static_cast<TraceEvent::Kind>(kind), .time_us = now};
  if (kind == kFree) {
    const std::uint64_t back = in.number();
    if (back == 0 || back >= next_id) in.fail("the id of an earlier allocation");
    event.id = next_id - back;
  } else if (kind == kStep) {
    event.id = in.number();
  } else {
    if (kind == kAllocate) {
      event.heap = static_cast<std::uint32_t>(in.number_below(trace.heaps.size(), "a known heap"));
    }
    event.owner = static_cast<std::uint32_t>(in.number_below(trace.owners.size(), "a known owner"));
    event.nbytes = in.number();
    event.id = next_id++;
  }
  trace.events.push_back(event);
}

}  // namespace

Trace read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  PLIMSOLL_CHECK(file.is_open(), NotFoundError, "no memory trace '{}'", path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  PLIMSOLL_CHECK(bytes.compare(0, kMagic.size(), kMagic) == 0, DataLossError,
                 "'{}' is no memory trace: it does not begin with {}", path, kMagic);
  Cursor in(path, std::string_view(bytes).substr(kMagic.size()));
  Trace trace;
  std::uint64_t next_id = 1;
  std::uint64_t now = 0;
  while (!in.at_end()) read_record(in, trace, next_id, now);
  return trace;
}

}  // namespace plimsoll::memory

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "memory/fork.h"
#include "memory/trace_format.h"
#include "plimsoll/memory/trace.h"
#include "plimsoll/settings.h"

namespace plimsoll::memory {
namespace {

using Clock = std::chrono::steady_clock;
using namespace trace_format;

constexpr std::size_t kBufferBytes = 64U << 10;
constexpr std::size_t kLongestRecord = 48;  // of those without a name

}  // namespace

// One mutex for all writers: there is one as a rule, and fork() has to hold it.
Mutex& trace_mutex() {
  static Mutex& mutex = *new Mutex;
  return mutex;
}

struct TraceWriter::State {
  std::FILE* file = nullptr;  // null: closed or given up
  std::string path;
  pid_t pid = 0;  // a forked child does not write into its parent's file
  std::uint64_t next_id = 1;
  std::uint32_t num_heaps = 0;
  Clock::time_point last = Clock::now();
  std::vector<bool> named;  // by Owner::id()
  std::vector<std::uint8_t> buffer;

  void put(std::uint64_t value) noexcept {  // pre: the buffer has room
    for (; value >= 0x80; value >>= 7) buffer.push_back(static_cast<std::uint8_t>(value | 0x80));
    buffer.push_back(static_cast<std::uint8_t>(value));
  }
  void put_text(std::string_view text) {
    put(text.size());
    buffer.insert(buffer.end(), text.begin(), text.end());
  }
  void begin(std::uint8_t kind) {
    if (buffer.size() + kLongestRecord > kBufferBytes) write_out();
    const auto now = Clock::now();
    buffer.push_back(kind);
    put(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now - last).count()));
    last = now;
  }
  void name_owner(Owner owner) {
    if (owner.id() < named.size() && named[owner.id()]) return;
    if (owner.id() >= named.size()) named.resize(owner.id() + 1);
    named[owner.id()] = true;
    buffer.push_back(kName);
    put(owner.id());
    put(static_cast<std::uint64_t>(owner.tag()));
    put_text(owner.name());
  }
  void write_out() noexcept {
    if (file && getpid() == pid && !buffer.empty() &&
        std::fwrite(buffer.data(), 1, buffer.size(), file) != buffer.size()) {
      log_warning("memory trace '{}' ends here: {}", path, std::strerror(errno));
      std::fclose(file);
      file = nullptr;
    }
    buffer.clear();
  }
  // Runs `record` under the lock; what it cannot do for want of memory is left out.
  template <class Record>
  std::uint64_t locked(Record record) noexcept {
    std::scoped_lock lock(trace_mutex());
    try {
      if (file) return record();
    } catch (const std::bad_alloc&) {
    }
    return 0;
  }
};

TraceWriter::TraceWriter(const std::string& path) : state_(std::make_unique<State>()) {
  state_->file = std::fopen(path.c_str(), "wb");
  PLIMSOLL_CHECK(state_->file != nullptr, InvalidArgumentError,
                 "cannot write memory trace '{}': {}", path, std::strerror(errno));
  state_->path = path;
  state_->pid = getpid();
  state_->buffer.reserve(2 * kBufferBytes);
  state_->buffer.assign(kMagic.begin(), kMagic.end());
}

TraceWriter::~TraceWriter() {
  flush();
  if (state_->file) std::fclose(state_->file);
}

std::uint32_t TraceWriter::add_heap(std::string_view name) {
  return static_cast<std::uint32_t>(state_->locked([&]() -> std::uint64_t {
    state_->buffer.push_back(kHeap);
    state_->put(state_->num_heaps);
    state_->put_text(name);
    return state_->num_heaps++;
  }));
}

std::uint64_t TraceWriter::allocate(std::uint32_t heap, std::uint64_t nbytes,
                                    Owner owner) noexcept {
  return state_->locked([&] {
    state_->name_owner(owner);
    state_->begin(kAllocate);
    state_->put(heap);
    state_->put(owner.id());
    state_->put(nbytes);
    return state_->next_id++;
  });
}

std::uint64_t TraceWriter::reserve(std::uint64_t nbytes, Owner owner) noexcept {
  return state_->locked([&] {
    state_->name_owner(owner);
    state_->begin(kReserve);
    state_->put(owner.id());
    state_->put(nbytes);
    return state_->next_id++;
  });
}

void TraceWriter::free(std::uint64_t id) noexcept {
  if (id == 0) return;
  state_->locked([&]() -> std::uint64_t {
    state_->begin(kFree);
    state_->put(state_->next_id - id);
    return 0;
  });
}

void TraceWriter::step(std::uint64_t number) noexcept {
  state_->locked([&]() -> std::uint64_t {
    state_->begin(kStep);
    state_->put(number);
    return 0;
  });
}

void TraceWriter::flush() noexcept {
  std::scoped_lock lock(trace_mutex());
  state_->write_out();
  if (state_->file && getpid() == state_->pid) std::fflush(state_->file);
}

TraceWriter* TraceWriter::process_trace() {
  // Never destroyed, since blocks may be freed after main(); flushed at exit.
  static TraceWriter* const writer = []() -> TraceWriter* {
    const std::string path = settings::get_string("trace");
    if (path.empty()) return nullptr;
    auto* made = new TraceWriter(path);
    static struct Flusher {
      TraceWriter* writer;
      ~Flusher() { writer->flush(); }
    } flusher{made};
    return made;
  }();
  return writer;
}

}  // namespace plimsoll::memory

// Host memory by mmap.
//
// On demand (the usual way): a reserved range is readable and writable from the start but holds no
// pages; a page comes with the first touch and goes with MADV_DONTNEED. Commit is then free, and no
// block needs a mapping of its own (the kernel allows some 65,000 mappings per process).
// By protection: a reserved range is PROT_NONE and commit makes it accessible. That is needed where
// the system counts writable mappings instead of pages; there a commit can be refused.
//
// Ranges start without huge pages (MADV_NOHUGEPAGE): a touched byte costs a page, not 2 MiB. The
// heap asks for huge pages where one block owns a whole 2 MiB granule.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "plimsoll/memory/host.h"
#include "plimsoll/memory/source.h"
#include "plimsoll/settings.h"

namespace plimsoll::memory {
namespace {

constexpr std::uint64_t kHugePage = 2U << 20;

void* as_pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

std::uint64_t page_size() noexcept {
  static const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

bool has_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
}

bool counts_mappings() {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  if (file >> mode && mode == 2) return true;
  rlimit data{};
  return getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
}

class HostSource final : public Source {
 public:
  explicit HostSource(HostOptions options)
      : protect_(options.protect || counts_mappings()),
        huge_(options.huge_pages && settings::get_bool("huge_pages") && !protect_ &&
                      has_huge_pages()
                  ? kHugePage
                  : 0) {}

  std::string name() const override { return "host"; }
  std::uint64_t capacity() const noexcept override { return kNoLimit; }
  std::uint64_t granularity() const noexcept override { return page_size(); }
  std::uint64_t huge_granularity() const noexcept override { return huge_; }
  std::uint64_t address_step() const noexcept override {
    rlimit limit{};
    const bool scarce = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return scarce ? std::uint64_t{64} << 20 : Source::address_step();
  }

  Address try_reserve(std::uint64_t nbytes) noexcept override {
    // Over-reserve by one huge page and cut both ends off, so that the range is aligned to it.
    if (nbytes == 0 || nbytes > kNoLimit - kHugePage) return 0;
    const std::uint64_t padded = nbytes + kHugePage;
    const int access = protect_ ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* raw = mmap(nullptr, padded, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return 0;
    const auto start = reinterpret_cast<Address>(raw);
    const Address aligned = (start + kHugePage - 1) & ~(kHugePage - 1);
    if (aligned > start) munmap(raw, aligned - start);
    const Address end = aligned + nbytes;
    if (start + padded > end) munmap(as_pointer(end), start + padded - end);
    madvise(as_pointer(aligned), nbytes, MADV_NOHUGEPAGE);
    return aligned;
  }

  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    return !protect_ || mprotect(as_pointer(address), nbytes, PROT_READ | PROT_WRITE) == 0;
  }

  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    madvise(as_pointer(address), nbytes, MADV_DONTNEED);
    if (protect_) mprotect(as_pointer(address), nbytes, PROT_NONE);
  }

  void release(Address address, std::uint64_t nbytes) noexcept override {
    munmap(as_pointer(address), nbytes);
  }

  bool populate(Address address, std::uint64_t nbytes) noexcept override {
#ifdef MADV_POPULATE_WRITE
    if (madvise(as_pointer(address), nbytes, MADV_POPULATE_WRITE) == 0) return true;
#endif
    for (std::uint64_t at = 0; at < nbytes; at += page_size()) {
      *reinterpret_cast<volatile char*>(address + at) = 0;
    }
    return true;
  }

  void advise_huge(Address address, std::uint64_t nbytes, bool on) noexcept override {
    madvise(as_pointer(address), nbytes, on ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }

 private:
  const bool protect_;
  const std::uint64_t huge_;  // 0: no huge pages
};

}  // namespace

SourcePtr make_host_source(HostOptions options) {
  return std::make_shared<HostSource>(options);
}

}  // namespace plimsoll::memory

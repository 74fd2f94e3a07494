// The bytes of an HDF5 file, read where they are asked for. Every read is checked against the size
// of the file first, so that no offset in a damaged file leads outside of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::h5 {

inline constexpr std::uint64_t kUndefined = ~std::uint64_t{0};  // an address of nothing
inline constexpr std::uint64_t kMaxMetadataBytes = 64u << 20;   // of one table or block
inline constexpr std::size_t kMaxNameBytes = 1u << 16;
inline constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 48;

// Where bytes come from: a file, a part of a file, or memory. Reads do not disturb each other, so
// that several threads may share one.
class Source {
 public:
  // throws: NotFoundError, or FailedPreconditionError where it is no file that can be read.
  explicit Source(const std::string& path);
  // `nbytes` from `offset` on, such as a member of an archive that is stored as it is.
  Source(const std::string& path, std::uint64_t offset, std::uint64_t nbytes);
  Source(std::string name, std::vector<std::byte> bytes);
  // What `read_at` gives: it fills all of `to` from `offset` on, or throws. It is called from one
  // thread at a time.
  using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> to)>;
  Source(std::string name, std::uint64_t nbytes, ReadAt read_at);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::uint64_t size() const noexcept { return size_; }
  const std::string& name() const noexcept { return name_; }

  // throws: DataLossError that names the file, `offset` and what was expected there.
  [[noreturn]] void damaged(std::uint64_t offset, std::string_view expected) const;
  void require(bool is_good, std::uint64_t offset, std::string_view expected) const {
    if (!is_good) [[unlikely]]
      damaged(offset, expected);
  }
  // throws: UnimplementedError that names the file and `offset`.
  [[noreturn]] void unimplemented(std::uint64_t offset, std::string_view what) const;

  bool has(std::uint64_t offset, std::uint64_t nbytes) const noexcept {
    return offset <= size_ && nbytes <= size_ - offset;
  }
  // throws: DataLossError where the file does not hold that many bytes there.
  void read(std::uint64_t offset, std::span<std::byte> to, std::string_view what) const;
  // memory: `nbytes`, which are in the file and at most kMaxMetadataBytes.
  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t nbytes,
                              std::string_view what) const;

 private:
  void open(const std::string& path);

  std::string name_;
  int file_ = -1;
  std::uint64_t start_ = 0;  // of the part, in the file
  std::uint64_t size_ = 0;
  std::vector<std::byte> memory_;  // in place of a file
  ReadAt read_at_;                 // in place of both
  mutable std::mutex reading_;
};

// Reads little-endian numbers one after another from bytes that are in memory, and knows where in
// the file they stand.
class Cursor {
 public:
  Cursor(const Source& source, std::uint64_t offset, std::span<const std::byte> bytes)
      : source_(&source), offset_(offset), bytes_(bytes) {}

  const Source& source() const noexcept { return *source_; }
  std::uint64_t offset() const noexcept { return offset_ + at_; }  // in the file
  std::size_t position() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(uint(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(uint(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(uint(4)); }
  std::uint64_t u64() { return uint(8); }
  std::uint64_t uint(std::size_t nbytes);  // nbytes <= 8
  std::span<const std::byte> take(std::uint64_t nbytes);
  Cursor part(std::uint64_t nbytes);  // of the next bytes, which are passed over
  void skip(std::uint64_t nbytes) { take(nbytes); }
  void align(std::size_t alignment);       // counted from where the cursor began
  std::string text(std::uint64_t nbytes);  // up to the first NUL in so many bytes
  void signature(std::string_view expected);

  [[noreturn]] void damaged(std::string_view expected) const {
    source_->damaged(offset(), expected);
  }
  void require(bool is_good, std::string_view expected) const {
    if (!is_good) [[unlikely]]
      damaged(expected);
  }

 private:
  const Source* source_;
  std::uint64_t offset_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

// The checksum of metadata: Jenkins's lookup3.
std::uint32_t checksum(std::span<const std::byte> bytes) noexcept;
// Holds the last four bytes of `bytes` against the checksum of those before.
// throws: DataLossError.
void check_checksum(const Source& source, std::uint64_t offset, std::span<const std::byte> bytes,
                    std::string_view what);

// a * b, or kUndefined if that is too large.
inline std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kUndefined : result;
}

}  // namespace plimsoll::h5

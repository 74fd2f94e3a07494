// .keras files are zip archives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "h5/file.h"

struct zip;
struct zip_source;

namespace plimsoll::keras {

inline constexpr std::uint64_t kMaxTextBytes = 64u << 20;  // of a configuration or a vocabulary
// A member that says it unpacks to more than so many times what is stored is no honest file.
inline constexpr std::uint64_t kMaxExpansion = 1000;

// Members are found by their names alone, and nothing is written where a name leads.
class Archive {
 public:
  // throws: NotFoundError; DataLossError for what is no zip archive.
  explicit Archive(const std::string& path);

  struct Member {
    std::string name;
    std::uint64_t nbytes = 0;
    std::uint64_t stored_nbytes = 0;
    bool is_stored = false;  // as it is, not deflated
  };
  const std::vector<Member>& members() const noexcept { return members_; }
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

  // throws: DataLossError if it is not there, is damaged, or has more than kMaxTextBytes.
  std::string text(std::string_view name) const;
  // A stored member is read where it stands; another is unpacked into a file without a name first.
  // throws: DataLossError; ResourceExhaustedError where the disk is full.
  h5::File h5_file(std::string_view name) const;

 private:
  const Member* find(std::string_view name) const noexcept;
  const Member& get(std::string_view name) const;
  std::uint64_t index_of(const Member& member) const noexcept;
  [[noreturn]] void damaged(std::string_view member, std::string_view what) const;
  h5::File unpacked(const Member& member) const;

  std::string path_;
  std::shared_ptr<zip> zip_;
  std::vector<Member> members_;
};

// Writes members as they are, beside the place of the file, which takes its name in finish().
class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::string path);
  ~ArchiveWriter();  // removes what was not finished
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void add_text(const std::string& name, std::string text);
  // Another file. pre: it is there until finish().
  void add_file(const std::string& name, const std::string& path);
  // throws: ResourceExhaustedError where the disk is full, FailedPreconditionError.
  void finish();
  const std::string& temporary() const noexcept { return temporary_; }

 private:
  void add(const std::string& name, zip_source* source);

  std::string path_;
  std::string temporary_;
  struct zip* zip_ = nullptr;
  std::vector<std::unique_ptr<std::string>> texts_;  // until finish(), where they are
};

}  // namespace plimsoll::keras

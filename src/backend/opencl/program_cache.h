// Compiled programs by their text: in memory, and in files for the next process.
//
// Files are in <cache_dir>/opencl, named by a hash of the text, the device and its driver. When
// they are more than the setting program_cache_limit, those that were not used for longest go: at
// the start, and again whenever an eighth of the limit was written.
#pragma once

#include <atomic>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "backend/opencl/cl.h"
#include "plimsoll/memory/budget.h"

namespace plimsoll::opencl {

class Program {
 public:
  explicit Program(cl_program program) noexcept : program_(program) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { cl().clReleaseProgram(program_); }
  cl_program get() const noexcept { return program_; }

  memory::Reservation claim;  // for as long as a kernel or the cache has it

 private:
  cl_program program_;
};

struct ProgramCacheStats {
  std::uint64_t num_programs = 0;                               // in memory
  std::uint64_t nbytes = 0;                                     // of their code, booked
  std::uint64_t compiled = 0, from_files = 0, from_memory = 0;  // since the start
};

class ProgramCache {
 public:
  void open(cl_context context, cl_device_id device);
  void close() noexcept;  // before the context goes

  // throws: InternalError with the compiler's words; ResourceExhaustedError if the host has no
  // room.
  std::shared_ptr<const Program> find(const std::string& source);
  // From now on programs are booked there, under the `cache` tag, for as long as they are alive.
  void book_on(const memory::Budget& budget);
  ProgramCacheStats stats();

 private:
  static constexpr std::size_t kMaxPrograms = 512;

  struct Item {
    std::string source;
    std::shared_ptr<const Program> program;
  };

  std::shared_ptr<Program> compile(const std::string& source);
  std::shared_ptr<Program> load(const std::filesystem::path& file) noexcept;
  void save(const std::filesystem::path& file, cl_program program) noexcept;
  void book(Program& program, const std::string& source);
  void keep(const std::string& source, std::shared_ptr<const Program> program);

  cl_context context_ = nullptr;
  cl_device_id device_ = nullptr;
  std::string device_key_;                     // device and driver
  std::filesystem::path folder_;               // "": no files
  std::uint64_t file_limit_ = 0;               // bytes
  std::atomic<std::uint64_t> saved_bytes_{0};  // since the files were last looked at
  std::optional<memory::Budget> budget_;
  std::mutex mutex_;
  std::list<Item> items_;  // most recently used first
  std::unordered_map<std::string, std::list<Item>::iterator> index_;
  ProgramCacheStats stats_;
};

// Where programs are kept in files: the setting cache_dir, or the user's cache folder; "" if there
// is none, or program_cache_limit is 0.
std::filesystem::path program_folder();
// Takes away the files that were not used for longest until `limit` bytes are left.
void prune_files(const std::filesystem::path& folder, std::uint64_t limit) noexcept;

}  // namespace plimsoll::opencl

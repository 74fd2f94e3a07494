#include "backend/opencl/program_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "plimsoll/settings.h"

namespace plimsoll::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptions = "-cl-std=CL1.2 -w";
constexpr std::uint64_t kDefaultFileBytes = std::uint64_t{256} << 20;

std::uint64_t file_limit() {
  return settings::get_bytes("program_cache_limit").value_or(kDefaultFileBytes);
}

std::string hash_text(std::string_view text) {
  std::uint64_t a = 0x9E3779B97F4A7C15, b = text.size();
  for (const char c : text) {
    a = hash_mix(a, static_cast<unsigned char>(c));
    b = hash_mix(b, a);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log;
}

std::uint64_t code_bytes(cl_program program) noexcept {
  std::size_t size = 0;
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
      CL_SUCCESS)
    return 0;
  return size;
}

}  // namespace

fs::path program_folder() {
  if (file_limit() == 0) return {};
  if (const std::string given = settings::get_string("cache_dir"); !given.empty())
    return fs::path(given) / "opencl";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return fs::path(cache) / "plimsoll" / "opencl";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return fs::path(home) / ".cache" / "plimsoll" / "opencl";
  return {};
}

void prune_files(const fs::path& folder, std::uint64_t limit) noexcept {
  struct File {
    fs::path path;
    fs::file_time_type time;
    std::uint64_t nbytes;
  };
  try {
    std::vector<File> files;
    std::uint64_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      std::error_code gone;  // another process may be at work here
      if (!entry.is_regular_file(gone) || gone) continue;
      files.push_back({entry.path(), entry.last_write_time(gone), entry.file_size(gone)});
      if (gone)
        files.pop_back();
      else
        sum += files.back().nbytes;
    }
    if (sum <= limit) return;
    std::ranges::sort(files, {}, &File::time);
    for (const File& file : files) {
      if (sum <= limit) return;
      std::error_code ignored;
      fs::remove(file.path, ignored);
      sum -= file.nbytes;
    }
  } catch (const std::exception&) {  // a cache that cannot be read is left as it is
  }
}

void ProgramCache::open(cl_context context, cl_device_id device) {
  context_ = context;
  device_ = device;
  device_key_ = fmt::format("{}\n{}\n{}\n{}\n", device_text(device, CL_DEVICE_NAME),
                            device_text(device, CL_DEVICE_VERSION),
                            device_text(device, CL_DRIVER_VERSION), kOptions);
  folder_ = program_folder();
  file_limit_ = file_limit();
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    log_info("no programs are kept in files: {}: {}", folder_.string(), error.message());
    folder_.clear();
    return;
  }
  prune_files(folder_, file_limit_);
}

void ProgramCache::close() noexcept {
  const std::scoped_lock lock(mutex_);
  index_.clear();
  items_.clear();
}

void ProgramCache::book_on(const memory::Budget& budget) {
  const std::scoped_lock lock(mutex_);
  budget_ = budget;
}

ProgramCacheStats ProgramCache::stats() {
  const std::scoped_lock lock(mutex_);
  ProgramCacheStats stats = stats_;
  stats.num_programs = items_.size();
  for (const Item& item : items_) stats.nbytes += item.program->claim.nbytes();
  return stats;
}

std::shared_ptr<const Program> ProgramCache::find(const std::string& source) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = index_.find(source);
    if (found != index_.end()) {
      ++stats_.from_memory;
      items_.splice(items_.begin(), items_, found->second);
      return found->second->program;
    }
  }
  const fs::path file =
      folder_.empty() ? fs::path() : folder_ / (hash_text(device_key_ + source) + ".bin");
  std::shared_ptr<Program> program = file.empty() ? nullptr : load(file);
  const bool is_from_file = program != nullptr;
  if (!program) {
    program = compile(source);
    if (!file.empty()) save(file, program->get());
  }
  book(*program, source);
  keep(source, program);
  const std::scoped_lock lock(mutex_);
  ++(is_from_file ? stats_.from_files : stats_.compiled);
  return program;
}

// Its code, and its text twice: as an item and as a key.
void ProgramCache::book(Program& program, const std::string& source) {
  std::optional<memory::Budget> budget;
  {
    const std::scoped_lock lock(mutex_);
    budget = budget_;
  }
  if (!budget) return;
  const memory::Owner owner(memory::Tag::kCache, "opencl programs");
  const std::uint64_t nbytes = code_bytes(program.get()) + 2 * source.size();
  program.claim = budget->try_reserve(nbytes, owner);
  if (program.claim) return;
  close();  // those that no kernel uses make room
  program.claim = budget->reserve(nbytes, owner);
}

void ProgramCache::keep(const std::string& source, std::shared_ptr<const Program> program) {
  std::list<Item> dropped;  // freed after the lock
  const std::scoped_lock lock(mutex_);
  if (index_.count(source)) return;
  while (items_.size() >= kMaxPrograms) {
    index_.erase(items_.back().source);
    dropped.splice(dropped.begin(), items_, std::prev(items_.end()));
  }
  items_.push_front({source, std::move(program)});
  index_.emplace(source, items_.begin());
}

std::shared_ptr<Program> ProgramCache::compile(const std::string& source) {
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  auto program = std::make_shared<Program>(
      cl().clCreateProgramWithSource(context_, 1, &text, nullptr, &error));
  check(error, "clCreateProgramWithSource");
  error = cl().clBuildProgram(program->get(), 1, &device_, kOptions, nullptr, nullptr);
  PLIMSOLL_CHECK(error == CL_SUCCESS, InternalError, "clBuildProgram: {}\n{}\n{}",
                 error_name(error), build_log(program->get(), device_), source);
  return program;
}

std::shared_ptr<Program> ProgramCache::load(const fs::path& file) noexcept {
  try {
    std::ifstream in(file, std::ios::binary);
    if (!in) return nullptr;
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const std::size_t size = bytes.size();
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    cl_program made =
        cl().clCreateProgramWithBinary(context_, 1, &device_, &size, &data, &status, &error);
    if (error != CL_SUCCESS) return nullptr;
    auto program = std::make_shared<Program>(made);
    if (status != CL_SUCCESS ||
        cl().clBuildProgram(made, 1, &device_, kOptions, nullptr, nullptr) != CL_SUCCESS)
      return nullptr;
    std::error_code ignored;
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
    return program;
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Written beside and moved to its place, so that no other process reads a half.
void ProgramCache::save(const fs::path& file, cl_program program) noexcept {
  try {
    std::string bytes(code_bytes(program), '\0');
    auto* data = reinterpret_cast<unsigned char*>(bytes.data());
    if (bytes.empty() || bytes.size() > file_limit_ ||
        cl().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) !=
            CL_SUCCESS)
      return;
    static std::atomic<int> num_written{0};
    const fs::path beside = file.string() + fmt::format(".{}.{}", ::getpid(), num_written++);
    std::error_code error;
    {
      std::ofstream out(beside, std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (!out.flush()) {
        fs::remove(beside, error);
        return;
      }
    }
    fs::rename(beside, file, error);
    if (error) fs::remove(beside, error);
    const std::uint64_t saved = saved_bytes_.fetch_add(bytes.size()) + bytes.size();
    if (saved < file_limit_ / 8) return;
    saved_bytes_ = 0;
    prune_files(folder_, file_limit_);
  } catch (const std::exception&) {  // then it is compiled again
  }
}

}  // namespace plimsoll::opencl

#include "plimsoll/data/tensor_bundle.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/files.h"
#include "data/crc32c.h"
#include "data/sorted_table.h"
#include "plimsoll/error.h"
#include "plimsoll/interop.h"

namespace plimsoll::io {

using data::put_varint;
using data::take_varint;

namespace {

// Types as protocol buffers of TensorFlow number them.
struct TypeNumber {
  DType dtype;
  std::uint64_t number;
};
constexpr TypeNumber kTypes[] = {{float32, 1}, {float64, 2},   {int32, 3},          {uint8, 4},
                                 {int16, 5},   {int8, 6},      {DType::kString, 7}, {int64, 9},
                                 {bool_, 10},  {bfloat16, 14}, {uint16, 17},        {float16, 19}};

std::uint64_t number_of(DType dtype) {
  for (const TypeNumber& type : kTypes) {
    if (type.dtype == dtype) return type.number;
  }
  throw InternalError("a type without a number");
}
std::optional<DType> type_of(std::uint64_t number) {
  for (const TypeNumber& type : kTypes) {
    if (type.number == number) return type.dtype;
  }
  return std::nullopt;
}

enum class Wire { kVarint = 0, kBytes = 2, kFixed32 = 5 };

void put_field(std::string& to, int field, std::uint64_t value) {
  if (value == 0) return;
  put_varint(to, static_cast<std::uint64_t>(field) << 3);
  put_varint(to, value);
}
void put_bytes(std::string& to, int field, std::string_view bytes) {
  put_varint(to, static_cast<std::uint64_t>(field) << 3 | 2);
  put_varint(to, bytes.size());
  to += bytes;
}

// What the index says of a tensor.
struct Entry {
  std::uint64_t type = 0;
  std::vector<std::int64_t> dims;
  std::uint64_t shard = 0, offset = 0, size = 0;
  std::uint32_t crc = 0;
  bool is_sliced = false;
};

std::string to_message(const Entry& entry) {
  std::string shape;
  for (const std::int64_t dim : entry.dims) {
    std::string size;
    put_field(size, 1, static_cast<std::uint64_t>(dim));
    put_bytes(shape, 2, size);
  }
  std::string made;
  put_field(made, 1, entry.type);
  put_bytes(made, 2, shape);
  put_field(made, 3, entry.shard);
  put_field(made, 4, entry.offset);
  put_field(made, 5, entry.size);
  put_varint(made, 6 << 3 | 5);
  made.append(reinterpret_cast<const char*>(&entry.crc), 4);
  return made;
}

// Calls use(field, number, bytes) for each field. False if the message is damaged.
template <class F>
bool for_each_field(std::string_view message, F use) {
  while (!message.empty()) {
    std::uint64_t tag = 0, number = 0;
    if (!take_varint(message, tag)) return false;
    std::string_view bytes;
    switch (static_cast<Wire>(tag & 7)) {
      case Wire::kVarint:
        if (!take_varint(message, number)) return false;
        break;
      case Wire::kBytes:
        if (!take_varint(message, number) || number > message.size()) return false;
        bytes = message.substr(0, static_cast<std::size_t>(number));
        message.remove_prefix(bytes.size());
        break;
      case Wire::kFixed32: {
        if (message.size() < 4) return false;
        std::uint32_t fixed = 0;
        std::memcpy(&fixed, message.data(), 4);
        message.remove_prefix(4);
        number = fixed;
        break;
      }
      default:
        return false;
    }
    if (!use(tag >> 3, number, bytes)) return false;
  }
  return true;
}

bool read_dims(std::string_view shape, std::vector<std::int64_t>& dims) {
  return for_each_field(shape, [&](std::uint64_t field, std::uint64_t, std::string_view dim) {
    if (field != 2) return true;
    dims.push_back(0);
    return for_each_field(dim, [&](std::uint64_t inner, std::uint64_t number, std::string_view) {
      if (inner == 1) dims.back() = static_cast<std::int64_t>(number);
      return dims.back() >= 0;
    });
  });
}

bool read_entry(std::string_view message, Entry& entry) {
  return for_each_field(message,
                        [&](std::uint64_t field, std::uint64_t number, std::string_view bytes) {
                          switch (field) {
                            case 1:
                              entry.type = number;
                              return true;
                            case 2:
                              return read_dims(bytes, entry.dims);
                            case 3:
                              entry.shard = number;
                              return true;
                            case 4:
                              entry.offset = number;
                              return true;
                            case 5:
                              entry.size = number;
                              return true;
                            case 6:
                              entry.crc = static_cast<std::uint32_t>(number);
                              return true;
                            case 7:
                              entry.is_sliced = true;
                              return true;
                            default:
                              return true;
                          }
                        });
}

std::string data_name(const std::string& prefix, std::uint64_t shard, std::uint64_t num_shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, num_shards);
}

// A file in memory, as far as somebody looks at it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw_file_error(path, "opened");
    struct stat about {};
    const bool is_known = ::fstat(file, &about) == 0;
    size_ = is_known ? static_cast<std::size_t>(about.st_size) : 0;
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (!is_known || data_ == MAP_FAILED) throw_file_error(path, "read");
  }
  ~MappedFile() {
    if (data_) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

struct TensorBundleWriter::State {
  std::string prefix, temporary;
  int file = -1;
  std::uint64_t offset = 0;
  std::map<std::string, Entry> entries;
};

TensorBundleWriter::TensorBundleWriter(std::string prefix) : state_(std::make_unique<State>()) {
  state_->prefix = std::move(prefix);
  state_->temporary = temporary_name(data_name(state_->prefix, 0, 1));
  state_->file = ::open(state_->temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (state_->file < 0) throw_file_error(state_->temporary, "written");
}

TensorBundleWriter::~TensorBundleWriter() {
  if (state_->file < 0) return;
  ::close(state_->file);
  ::unlink(state_->temporary.c_str());
}

void TensorBundleWriter::add(const std::string& name, const Tensor& tensor) {
  PLIMSOLL_CHECK(state_->file >= 0, FailedPreconditionError, "'{}' is finished", state_->prefix);
  PLIMSOLL_CHECK(tensor.dtype() != DType::kString, UnimplementedError,
                 "'{}': strings are not written to checkpoints", name);
  PLIMSOLL_CHECK(!name.empty() && !state_->entries.contains(name), InvalidArgumentError,
                 "Adding duplicate key: '{}'", name);
  const Tensor kept = interop::on_host(tensor);
  const std::span bytes(static_cast<const std::byte*>(interop::host_data(kept)),
                        kept.num_elements() > 0 ? static_cast<std::size_t>(kept.nbytes()) : 0);
  write_all(state_->file, state_->offset, bytes, state_->temporary);
  Entry entry{.type = number_of(kept.dtype()),
              .dims = {kept.shape().dims().begin(), kept.shape().dims().end()},
              .offset = state_->offset,
              .size = bytes.size(),
              .crc = data::masked_crc32c(bytes)};
  state_->entries.emplace(name, std::move(entry));
  state_->offset += bytes.size();
}

void TensorBundleWriter::finish() {
  PLIMSOLL_CHECK(state_->file >= 0, FailedPreconditionError, "'{}' is finished", state_->prefix);
  data::SortedTable table;
  std::string version;
  put_field(version, 1, 1);
  put_field(table[""], 1, 1);  // one file of data
  put_bytes(table[""], 3, version);
  for (const auto& [name, entry] : state_->entries) table[name] = to_message(entry);
  const std::string index = data::write_table(table);
  const std::string name = state_->prefix + ".index", temporary = temporary_name(name);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw_file_error(temporary, "written");
  try {
    write_all(file, 0, std::as_bytes(std::span(index)), temporary);
  } catch (...) {
    ::close(file);
    ::unlink(temporary.c_str());
    throw;
  }
  ::close(file);
  ::close(std::exchange(state_->file, -1));
  publish_file(state_->temporary, data_name(state_->prefix, 0, 1));
  publish_file(temporary, name);
}

struct TensorBundleReader::State {
  std::string prefix;
  std::uint64_t num_shards = 1;
  std::map<std::string, Entry> entries;
  std::map<std::uint64_t, std::unique_ptr<MappedFile>> files;

  std::string_view bytes_of(const Entry& entry, const std::string& name) {
    std::unique_ptr<MappedFile>& file = files[entry.shard];
    const std::string path = data_name(prefix, entry.shard, num_shards);
    if (!file) file = std::make_unique<MappedFile>(path);
    const std::string_view all = file->bytes();
    PLIMSOLL_CHECK(entry.size <= all.size() && entry.offset <= all.size() - entry.size,
                   DataLossError, "'{}' is too short for '{}': {} bytes at {}, and it has {}", path,
                   name, entry.size, entry.offset, all.size());
    return all.substr(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size));
  }
};

TensorBundleReader::TensorBundleReader(std::string prefix) : state_(std::make_unique<State>()) {
  state_->prefix = std::move(prefix);
  const std::string name = state_->prefix + ".index";
  const MappedFile index(name);
  for (const auto& [key, message] : data::read_table(index.bytes(), name)) {
    bool is_read = true;
    if (key.empty()) {
      is_read =
          for_each_field(message, [&](std::uint64_t field, std::uint64_t number, std::string_view) {
            if (field == 1) state_->num_shards = number;
            PLIMSOLL_CHECK(field != 2 || number == 0, UnimplementedError,
                           "'{}' was written with the highest byte first", name);
            return true;
          });
    } else {
      is_read = read_entry(message, state_->entries[key]);
    }
    PLIMSOLL_CHECK(is_read, DataLossError, "'{}': the entry of '{}' is damaged", name, key);
  }
}

TensorBundleReader::~TensorBundleReader() = default;

std::map<std::string, TensorSpec> TensorBundleReader::specs() const {
  std::map<std::string, TensorSpec> made;
  for (const auto& [name, entry] : state_->entries) {
    const std::optional<DType> dtype = type_of(entry.type);
    if (!dtype) continue;
    made[name] = {*dtype, Shape(std::span<const std::int64_t>(entry.dims))};
  }
  return made;
}

bool TensorBundleReader::has(const std::string& name) const {
  return state_->entries.contains(name);
}

Tensor TensorBundleReader::read(const std::string& name) const {
  const auto found = state_->entries.find(name);
  PLIMSOLL_CHECK(found != state_->entries.end(), NotFoundError, "Key {} not found in checkpoint",
                 name);
  const Entry& entry = found->second;
  const std::optional<DType> dtype = type_of(entry.type);
  PLIMSOLL_CHECK(dtype && *dtype != DType::kString && !entry.is_sliced, UnimplementedError,
                 "'{}' of '{}' is {}, which is not read", name, state_->prefix,
                 entry.is_sliced ? "in parts" : fmt::format("of type {}", entry.type));
  const Shape shape{std::span<const std::int64_t>(entry.dims)};
  const std::string_view bytes = state_->bytes_of(entry, name);
  PLIMSOLL_CHECK(
      bytes.size() == static_cast<std::uint64_t>(shape.num_elements()) * dtype_size(*dtype),
      DataLossError, "'{}' of '{}' has {} bytes for the shape {}", name, state_->prefix,
      bytes.size(), shape.to_string());
  PLIMSOLL_CHECK(data::masked_crc32c(std::as_bytes(std::span(bytes))) == entry.crc, DataLossError,
                 "'{}' of '{}': the checksum does not fit its bytes", name, state_->prefix);
  return interop::copy_from_host(*dtype, shape, bytes.data());
}

}  // namespace plimsoll::io

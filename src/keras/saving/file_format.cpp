// Which kind of file a path leads to.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/files.h"
#include "keras/saving/formats.h"

namespace plimsoll::keras {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

[[noreturn]] void folder_error(const std::string& path) {
  if (exists(path + "/saved_model.pb")) {
    throw UnimplementedError(
        fmt::format("'{}' is a SavedModel folder of TensorFlow, which is not read here. Convert it "
                    "where it was "
                    "made: with Keras 2, tf.keras.models.load_model(folder).save('model.keras')",
                    path));
  }
  if (exists(path + "/config.json")) {
    throw UnimplementedError(fmt::format(
        "'{}' is a model that was saved with zipped=False. Pack its files into one with "
        "`zip -0 -r model.keras .`",
        path));
  }
  throw FailedPreconditionError(
      fmt::format("'{}' is a folder. Models are in files that end in .keras or .h5", path));
}

bool begins_with(std::span<const std::byte> bytes, std::string_view text, std::size_t at = 0) {
  return bytes.size() >= at + text.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, text.size()) == text;
}

}  // namespace

FileFormat format_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    PLIMSOLL_CHECK(!exists(path + ".index"), UnimplementedError,
                   "'{}' is a checkpoint of TensorFlow, which is not read here. Load it into its "
                   "model where it was made, and save that: model.save('model.keras')",
                   path);
    throw_file_error(path, "opened");
  }
  if (S_ISDIR(status.st_mode)) folder_error(path);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw_file_error(path, "opened");
  std::array<std::byte, 16> head{};
  const ssize_t count = ::pread(file, head.data(), head.size(), 0);
  ::close(file);
  const std::span<const std::byte> bytes(head.data(),
                                         count > 0 ? static_cast<std::size_t>(count) : 0);
  if (begins_with(bytes, "PK\x03\x04") || begins_with(bytes, "PK\x05\x06"))
    return FileFormat::kArchive;
  if (begins_with(bytes, "\x89HDF\r\n\x1a\n")) return FileFormat::kH5;
  PLIMSOLL_CHECK(!begins_with(bytes, "TFL3", 4), UnimplementedError,
                 "'{}' is a .tflite file, which is not read here yet. Load the model from the file "
                 "that it was made of (.keras or .h5)",
                 path);
  PLIMSOLL_CHECK(
      !path.ends_with(".index") && path.find(".data-0") == std::string::npos, UnimplementedError,
      "'{}' is a part of a checkpoint of TensorFlow, which is not read here. Load it into "
      "its model where it was made, and save that: model.save('model.keras')",
      path);
  PLIMSOLL_CHECK(
      !path.ends_with(".pb"), UnimplementedError,
      "'{}' is a graph of TensorFlow, which is not read here. Convert the model where it "
      "was made: model.save('model.keras')",
      path);
  throw DataLossError(fmt::format(
      "'{}' is no model file: it has {} bytes and begins neither like a .keras file (zip) nor like "
      "an .h5 file (HDF5)",
      path, status.st_size));
}

}  // namespace plimsoll::keras

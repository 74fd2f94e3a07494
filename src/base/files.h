// Files: whole reads and writes, and the way by which a file is replaced in one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plimsoll {

// throws, out of errno: NotFoundError; ResourceExhaustedError where the disk is full;
// FailedPreconditionError. `what` is "opened", "written", ...
[[noreturn]] void throw_file_error(const std::string& path, const char* what);

// A name beside `path` that this process has not used before.
std::string temporary_name(const std::string& path);
// Brings a file to the disk and gives it its name, in place of what has it now. throws: as above.
void publish_file(const std::string& temporary, const std::string& path);

// A file that is gone when its last user is.
// throws: as above.
std::shared_ptr<const int> make_nameless_file();

// All of them, or they throw as above; reading beyond the end is a DataLossError. `name` is shown.
void write_all(int file, std::uint64_t offset, std::span<const std::byte> bytes,
               const std::string& name);
void read_all(int file, std::uint64_t offset, std::span<std::byte> to, const std::string& name);

}  // namespace plimsoll

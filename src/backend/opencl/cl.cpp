#include "backend/opencl/cl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace plimsoll::opencl {
namespace {

const Cl* load() noexcept {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  static Cl made;
  bool is_whole = true;
  const auto find = [&]<class F>(F*& to, const char* name) {
    to = reinterpret_cast<F*>(dlsym(library, name));
    is_whole &= to != nullptr;
  };
#define PLIMSOLL_CL_FIND(name) find(made.name, #name);
  PLIMSOLL_CL_FUNCTIONS(PLIMSOLL_CL_FIND)
#undef PLIMSOLL_CL_FIND
  return is_whole ? &made : nullptr;
}

bool is_about_memory(cl_int error) noexcept {
  return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
         error == CL_OUT_OF_HOST_MEMORY;
}

}  // namespace

const Cl* find_cl() noexcept {
  static const Cl* const found = load();
  return found;
}

const char* error_name(cl_int error) noexcept {
  switch (error) {
#define PLIMSOLL_CL_ERROR(name) \
  case name:                    \
    return #name;
    PLIMSOLL_CL_ERROR(CL_DEVICE_NOT_FOUND)
    PLIMSOLL_CL_ERROR(CL_DEVICE_NOT_AVAILABLE)
    PLIMSOLL_CL_ERROR(CL_COMPILER_NOT_AVAILABLE)
    PLIMSOLL_CL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    PLIMSOLL_CL_ERROR(CL_OUT_OF_RESOURCES)
    PLIMSOLL_CL_ERROR(CL_OUT_OF_HOST_MEMORY)
    PLIMSOLL_CL_ERROR(CL_BUILD_PROGRAM_FAILURE)
    PLIMSOLL_CL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    PLIMSOLL_CL_ERROR(CL_INVALID_VALUE)
    PLIMSOLL_CL_ERROR(CL_INVALID_DEVICE)
    PLIMSOLL_CL_ERROR(CL_INVALID_CONTEXT)
    PLIMSOLL_CL_ERROR(CL_INVALID_COMMAND_QUEUE)
    PLIMSOLL_CL_ERROR(CL_INVALID_MEM_OBJECT)
    PLIMSOLL_CL_ERROR(CL_INVALID_BINARY)
    PLIMSOLL_CL_ERROR(CL_INVALID_BUILD_OPTIONS)
    PLIMSOLL_CL_ERROR(CL_INVALID_PROGRAM)
    PLIMSOLL_CL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE)
    PLIMSOLL_CL_ERROR(CL_INVALID_KERNEL_NAME)
    PLIMSOLL_CL_ERROR(CL_INVALID_KERNEL)
    PLIMSOLL_CL_ERROR(CL_INVALID_ARG_INDEX)
    PLIMSOLL_CL_ERROR(CL_INVALID_ARG_VALUE)
    PLIMSOLL_CL_ERROR(CL_INVALID_ARG_SIZE)
    PLIMSOLL_CL_ERROR(CL_INVALID_KERNEL_ARGS)
    PLIMSOLL_CL_ERROR(CL_INVALID_WORK_GROUP_SIZE)
    PLIMSOLL_CL_ERROR(CL_INVALID_WORK_ITEM_SIZE)
    PLIMSOLL_CL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE)
    PLIMSOLL_CL_ERROR(CL_INVALID_BUFFER_SIZE)
    PLIMSOLL_CL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET)
#undef PLIMSOLL_CL_ERROR
    default:
      return "an error of OpenCL";
  }
}

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  const std::string text = fmt::format("{}: {} ({})", what, error_name(error), error);
  if (is_about_memory(error)) throw ResourceExhaustedError(text);
  throw InternalError(text);
}

Status to_status(cl_int error, const char* what) noexcept {
  if (error == CL_SUCCESS) return {};
  char text[160];
  const auto end =
      fmt::format_to_n(text, sizeof text, "{}: {} ({})", what, error_name(error), error);
  return Status::with_text(ErrorCode::kInternal, {text, std::min(end.size, sizeof text)});
}

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  check(cl().clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo");
  std::string text(size, '\0');
  check(cl().clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo");
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace plimsoll::opencl

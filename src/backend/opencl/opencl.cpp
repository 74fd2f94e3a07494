#include "backend/opencl/opencl.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/log.h"

namespace plimsoll::opencl {
namespace {

// PoCL keeps what it compiles itself (CLBlast's kernels, too): beside our own files, so that one
// limit holds for all.
void share_pocl_files() {
  const std::filesystem::path folder = program_folder();
  if (!folder.empty()) setenv("POCL_CACHE_DIR", (folder / "pocl").c_str(), 0);
}

// Loading PoCL takes tens of megabytes: not where it is all there is and nobody asked for CPUs.
bool has_gpu_drivers() {
  if (std::getenv("OCL_ICD_VENDORS") || std::getenv("OPENCL_VENDOR_PATH")) return true;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", error)) {
    std::string library;
    std::ifstream(entry.path()) >> library;
    if (!library.empty() && library.find("pocl") == std::string::npos) return true;
  }
  return false;
}

std::vector<std::shared_ptr<ClDevice>> find_now(bool with_cpus) {
  std::vector<std::shared_ptr<ClDevice>> found;
  if (!with_cpus && !has_gpu_drivers()) return found;
  share_pocl_files();
  if (!find_cl()) return found;
  cl_uint num_platforms = 0;
  if (cl().clGetPlatformIDs(0, nullptr, &num_platforms) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> platforms(num_platforms);
  check(cl().clGetPlatformIDs(num_platforms, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    const cl_device_type types =
        with_cpus ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    cl_uint num = 0;
    if (cl().clGetDeviceIDs(platform, types, 0, nullptr, &num) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(num);
    check(cl().clGetDeviceIDs(platform, types, num, devices.data(), nullptr), "clGetDeviceIDs");
    for (cl_device_id device : devices) {
      try {
        found.push_back(std::make_shared<ClDevice>(platform, device));
      } catch (const Error& e) {  // a driver that does not work takes nothing else with it
        log_warning("an OpenCL device is left out: {}", e.what());
      }
    }
  }
  return found;
}

}  // namespace

std::vector<std::shared_ptr<ClDevice>> find_devices(bool with_cpus) {
  static const auto& gpus = *new auto(find_now(false));
  if (!with_cpus) return gpus;
  static const auto& all = *new auto(find_now(true));
  return all;
}

Backend make_backend(ClDevice* device) {
  return {.name = "opencl",
          .tables = {create_kernels(), elementwise_kernels(), reduce_kernels(), shape_kernels(),
                     softmax_kernels(), matmul_kernels()},
          .device = device};
}

}  // namespace plimsoll::opencl

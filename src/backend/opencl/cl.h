// OpenCL's functions, found in the system's ICD loader at run time: a program that was built with
// OpenCL runs where there is none.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

#include "backend/api/kernel.h"

namespace plimsoll::opencl {

#define PLIMSOLL_CL_FUNCTIONS(X) \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clCreateBuffer)              \
  X(clCreateSubBuffer)           \
  X(clReleaseMemObject)          \
  X(clCreateProgramWithSource)   \
  X(clCreateProgramWithBinary)   \
  X(clBuildProgram)              \
  X(clGetProgramInfo)            \
  X(clGetProgramBuildInfo)       \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clSetKernelArg)              \
  X(clReleaseKernel)             \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueCopyBuffer)         \
  X(clEnqueueFillBuffer)         \
  X(clFlush)                     \
  X(clFinish)

struct Cl {
#define PLIMSOLL_CL_MEMBER(name) decltype(&::name) name = nullptr;
  PLIMSOLL_CL_FUNCTIONS(PLIMSOLL_CL_MEMBER)
#undef PLIMSOLL_CL_MEMBER
};

// Null where no loader is installed, or one that is too old.
const Cl* find_cl() noexcept;
// pre: find_cl() is not null.
inline const Cl& cl() noexcept {
  return *find_cl();
}

const char* error_name(cl_int error) noexcept;
// throws: ResourceExhaustedError for errors about memory, InternalError for others.
void check(cl_int error, const char* what);
// As kernels report it: memory was there before they ran, so that every error is one of the device.
Status to_status(cl_int error, const char* what) noexcept;

std::string device_text(cl_device_id device, cl_device_info what);
template <class T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  check(cl().clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}

}  // namespace plimsoll::opencl

#include "backend/opencl/device.h"

#include <algorithm>

namespace plimsoll::opencl {

namespace {

// OpenCL C as the kernels of backend/gpu are written.
constexpr const char* kDialect = R"(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define HAS_DOUBLES 1
#endif
#pragma OPENCL FP_CONTRACT OFF
typedef long int64;
#define GROUP 64
#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define INLINE static inline
#define GLOBAL global
#define LOCAL local
#define ID ((int64)get_global_id(0))
#define NUM_IDS ((int64)get_global_size(0))
#define GROUP_ID ((int64)get_group_id(0))
#define NUM_GROUPS ((int64)get_num_groups(0))
#define LOCAL_ID ((int)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define ATOMIC_MIN(p, x) atomic_min((volatile global int*)(p), x)
#define FLOAT_BITS(x) as_uint(x)
#define BITS_FLOAT(x) as_float(x)
#define LOAD_HALF(p, i) vload_half(i, (global const half*)(p))
#define STORE_HALF(p, i, x) vstore_half_rte(x, i, (global half*)(p))
)";

}  // namespace

memory::Address BufferTable::try_reserve() noexcept {
  const std::scoped_lock lock(mutex_);
  std::uint32_t number = 0;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (num_used_ < kNumSlots) {
    number = num_used_++;
  }
  return static_cast<memory::Address>(number) << kOffsetBits;
}

void BufferTable::release(memory::Address address) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    free_.push_back(static_cast<std::uint32_t>(address >> kOffsetBits));
  } catch (const std::bad_alloc&) {  // the number is lost; there are many
  }
}

ClKernel::ClKernel(std::shared_ptr<const Program> program, const char* name)
    : program_(std::move(program)) {
  cl_int error = CL_SUCCESS;
  kernel_ = cl().clCreateKernel(program_->get(), name, &error);
  check(error, "clCreateKernel");
}

ClKernel::~ClKernel() {
  if (kernel_) cl().clReleaseKernel(kernel_);
}

ClDevice::ClDevice(cl_platform_id platform, cl_device_id device)
    : device_(device), name_(device_text(device, CL_DEVICE_NAME)) {
  capacity_ = device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  largest_buffer_ = device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  sub_buffer_alignment_ = device_value<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  is_unified_ = device_value<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  has_doubles_ = device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int error = CL_SUCCESS;
  context_ = cl().clCreateContext(properties, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  queue_ = cl().clCreateCommandQueue(context_, device, 0, &error);
  if (error != CL_SUCCESS) cl().clReleaseContext(context_);
  check(error, "clCreateCommandQueue");
  programs_.open(context_, device);
}

ClDevice::~ClDevice() {
  programs_.close();
  cl().clReleaseCommandQueue(queue_);
  cl().clReleaseContext(context_);
}

cl_mem ClDevice::try_make_buffer(std::uint64_t nbytes) noexcept {
  cl_int error = CL_SUCCESS;
  cl_mem made = cl().clCreateBuffer(context_, CL_MEM_READ_WRITE, nbytes, nullptr, &error);
  if (error != CL_SUCCESS) return nullptr;
  const cl_uint zero = 0;
  error =
      cl().clEnqueueFillBuffer(queue_, made, &zero, sizeof zero, 0, nbytes, 0, nullptr, nullptr);
  if (error == CL_SUCCESS) error = cl().clFinish(queue_);
  if (error == CL_SUCCESS) return made;
  cl().clReleaseMemObject(made);
  return nullptr;
}

ClKernel ClDevice::kernel(const std::string& source, const char* name) {
  return {programs_.find(kDialect + source), name};
}

Status ClDevice::launch(const ClKernel& kernel, std::uint64_t num,
                        std::initializer_list<Arg> args) noexcept {
  return launch(kernel, num, std::span<const Arg>(args.begin(), args.size()));
}

Status ClDevice::launch(const ClKernel& kernel, std::uint64_t num,
                        std::span<const Arg> args) noexcept {
  if (num == 0) return {};
  const std::scoped_lock lock(mutex_);
  cl_uint index = 0;
  const auto set = [&](std::size_t size, const void* data) {
    return cl().clSetKernelArg(kernel.get(), index++, size, data);
  };
  for (const Arg& arg : args) {
    cl_int error = CL_SUCCESS;
    if (arg.span) {
      const Place place = find(*arg.span);
      error = set(sizeof place.buffer, &place.buffer);
      if (error == CL_SUCCESS) error = set(sizeof place.offset, &place.offset);
    } else {
      error = set(arg.size, arg.data);
    }
    if (error != CL_SUCCESS) return to_status(error, "clSetKernelArg");
  }
  const std::size_t local = kGroup;
  const std::size_t global = std::min((num + kGroup - 1) / kGroup, kMaxGroups) * kGroup;
  return to_status(cl().clEnqueueNDRangeKernel(queue_, kernel.get(), 1, nullptr, &global, &local, 0,
                                               nullptr, nullptr),
                   "clEnqueueNDRangeKernel");
}

Status ClDevice::fill(const DeviceSpan& to, const void* pattern,
                      std::size_t pattern_size) noexcept {
  if (to.nbytes == 0) return {};
  const Place place = find(to);
  return to_status(cl().clEnqueueFillBuffer(queue_, place.buffer, pattern, pattern_size,
                                            place.offset, to.nbytes, 0, nullptr, nullptr),
                   "clEnqueueFillBuffer");
}

Status ClDevice::read(void* to, memory::Address from, std::uint64_t nbytes) noexcept {
  if (nbytes == 0) return {};
  const Place place = buffers_.find(from);
  return to_status(cl().clEnqueueReadBuffer(queue_, place.buffer, CL_TRUE, place.offset, nbytes, to,
                                            0, nullptr, nullptr),
                   "clEnqueueReadBuffer");
}

Status ClDevice::write(memory::Address to, const void* from, std::uint64_t nbytes) noexcept {
  if (nbytes == 0) return {};
  const Place place = buffers_.find(to);
  return to_status(cl().clEnqueueWriteBuffer(queue_, place.buffer, CL_TRUE, place.offset, nbytes,
                                             from, 0, nullptr, nullptr),
                   "clEnqueueWriteBuffer");
}

// OpenCL copies no overlapping ranges: those go in pieces as long as they lie apart, from the end
// that is not written over.
Status ClDevice::move(memory::Address to, memory::Address from, std::uint64_t nbytes) noexcept {
  if (nbytes == 0 || to == from) return {};
  const Place source = buffers_.find(from), target = buffers_.find(to);
  const std::uint64_t apart = to > from ? to - from : from - to;
  const std::uint64_t piece = source.buffer == target.buffer ? std::min(nbytes, apart) : nbytes;
  for (std::uint64_t done = 0; done < nbytes; done += piece) {
    const std::uint64_t n = std::min(piece, nbytes - done);
    const std::uint64_t at = to > from ? nbytes - done - n : done;
    const cl_int error =
        cl().clEnqueueCopyBuffer(queue_, source.buffer, target.buffer, source.offset + at,
                                 target.offset + at, n, 0, nullptr, nullptr);
    if (error != CL_SUCCESS) return to_status(error, "clEnqueueCopyBuffer");
  }
  return {};
}

namespace {

class ClSource final : public memory::Source {
 public:
  explicit ClSource(std::shared_ptr<ClDevice> device) : device_(std::move(device)) {}

  std::string name() const override { return device_->name(); }
  std::uint64_t capacity() const noexcept override { return device_->capacity(); }
  std::uint64_t granularity() const noexcept override { return 64U << 10; }
  bool is_host() const noexcept override { return false; }
  bool is_whole() const noexcept override { return true; }
  std::uint64_t largest_reserve() const noexcept override {
    return std::min(device_->largest_buffer(), BufferTable::kMaxBytes);
  }

  memory::Address try_reserve(std::uint64_t nbytes) noexcept override {
    return nbytes <= largest_reserve() ? device_->buffers().try_reserve() : 0;
  }
  bool try_commit(memory::Address address, std::uint64_t nbytes) noexcept override {
    if (committed_.fetch_add(nbytes) + nbytes <= capacity()) {
      if (cl_mem made = device_->try_make_buffer(nbytes)) {
        device_->buffers().set(address, made);
        return true;
      }
    }
    committed_ -= nbytes;
    return false;
  }
  void decommit(memory::Address address, std::uint64_t nbytes) noexcept override {
    const Place place = device_->buffers().find(address);
    device_->buffers().set(address, nullptr);
    cl().clReleaseMemObject(place.buffer);  // what is queued on it keeps it until it is done
    cl().clFinish(device_->queue());        // so that the memory is there when this returns
    committed_ -= nbytes;
  }
  void release(memory::Address address, std::uint64_t) noexcept override {
    device_->buffers().release(address);
  }

 private:
  const std::shared_ptr<ClDevice> device_;
  std::atomic<std::uint64_t> committed_{0};
};

}  // namespace

memory::SourcePtr make_source(std::shared_ptr<ClDevice> device) {
  return std::make_shared<ClSource>(std::move(device));
}

}  // namespace plimsoll::opencl

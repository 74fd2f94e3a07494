// An OpenCL device: its memory, its queue and its programs.
//
// Memory has no pointers. An address is a number of our own: which buffer, in the high bits, and
// the byte in it. Kernels are given buffer and offset.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/opencl/cl.h"
#include "backend/opencl/program_cache.h"

namespace plimsoll::opencl {

// A buffer and a byte in it.
struct Place {
  cl_mem buffer = nullptr;
  std::uint64_t offset = 0;
};

// Buffers by number; the numbers are what addresses are made of.
class BufferTable {
 public:
  static constexpr int kOffsetBits = 40;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << kOffsetBits;

  memory::Address try_reserve() noexcept;  // 0: all numbers are taken
  void release(memory::Address address) noexcept;
  void set(memory::Address address, cl_mem buffer) noexcept { slot(address).store(buffer); }
  Place find(memory::Address address) const noexcept {
    return {const_cast<BufferTable*>(this)->slot(address).load(), address & (kMaxBytes - 1)};
  }

 private:
  static constexpr std::size_t kNumSlots = std::size_t{1} << 16;  // slot 0 is never used
  std::atomic<cl_mem>& slot(memory::Address address) noexcept {
    return slots_[(address >> kOffsetBits) % kNumSlots];
  }

  std::array<std::atomic<cl_mem>, kNumSlots> slots_{};
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
  std::uint32_t num_used_ = 1;
};

// A kernel of a program; for one thread at a time, which ClDevice sees to.
class ClKernel {
 public:
  ClKernel() noexcept = default;
  ClKernel(std::shared_ptr<const Program> program, const char* name);
  ClKernel(ClKernel&& other) noexcept { *this = std::move(other); }
  ClKernel& operator=(ClKernel&& other) noexcept {
    std::swap(program_, other.program_);
    std::swap(kernel_, other.kernel_);
    return *this;
  }
  ~ClKernel();
  cl_kernel get() const noexcept { return kernel_; }

 private:
  std::shared_ptr<const Program> program_;
  cl_kernel kernel_ = nullptr;
};

// An argument of a kernel. Spans are two of them: buffer and offset.
struct Arg {
  Arg() noexcept = default;
  template <class T>
  Arg(const T& value) noexcept : data(&value), size(sizeof(T)) {}
  Arg(const DeviceSpan& given) noexcept : span(&given) {}
  const void* data = nullptr;
  std::size_t size = 0;
  const DeviceSpan* span = nullptr;
};

class ClDevice final : public RemoteDevice {
 public:
  static constexpr std::uint64_t kGroup = 64;  // work-items of a group
  // Of a launch, at most: kernels loop. More would pay nowhere, and PoCL 3.1 aborts when it has run
  // a kernel with less than 65,535 work-items and with more.
  static constexpr std::uint64_t kMaxGroups = 1023;

  ClDevice(cl_platform_id platform, cl_device_id device);
  ~ClDevice() override;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t capacity() const noexcept { return capacity_; }
  std::uint64_t largest_buffer() const noexcept { return largest_buffer_; }
  std::uint64_t sub_buffer_alignment() const noexcept { return sub_buffer_alignment_; }
  bool is_unified() const noexcept { return is_unified_; }
  bool has_doubles() const noexcept { return has_doubles_; }
  cl_command_queue queue() const noexcept { return queue_; }
  BufferTable& buffers() noexcept { return buffers_; }
  std::mutex& mutex() noexcept { return mutex_; }  // held while a kernel's arguments are set

  // A buffer that is really there: drivers allocate at the first use, so it is written once.
  // null: there is no room.
  cl_mem try_make_buffer(std::uint64_t nbytes) noexcept;

  Place find(const DeviceSpan& span) const noexcept {
    Place place = buffers_.find(span.buffer);
    place.offset += span.offset;
    return place;
  }

  // Compiles the text, or finds it compiled. throws: InternalError with the compiler's words.
  ClKernel kernel(const std::string& source, const char* name);
  // Runs a kernel on up to `num` work-items, in whole groups; returns when it is queued.
  Status launch(const ClKernel& kernel, std::uint64_t num,
                std::initializer_list<Arg> args) noexcept;
  Status launch(const ClKernel& kernel, std::uint64_t num, std::span<const Arg> args) noexcept;
  // The pattern's size is a power of two up to 8. Returns when it is queued.
  Status fill(const DeviceSpan& to, const void* pattern, std::size_t pattern_size) noexcept;

  Status read(void* to, memory::Address from, std::uint64_t nbytes) noexcept override;
  Status write(memory::Address to, const void* from, std::uint64_t nbytes) noexcept override;
  Status move(memory::Address to, memory::Address from, std::uint64_t nbytes) noexcept override;
  void book_programs_on(const memory::Budget& budget) override { programs_.book_on(budget); }

 private:
  const cl_device_id device_;
  std::string name_;
  std::uint64_t capacity_ = 0, largest_buffer_ = 0, sub_buffer_alignment_ = 0;
  bool is_unified_ = false, has_doubles_ = false;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  ProgramCache programs_;
  BufferTable buffers_;
  std::mutex mutex_;
};

// The device's memory: every reservation is a buffer once it is committed.
memory::SourcePtr make_source(std::shared_ptr<ClDevice> device);

}  // namespace plimsoll::opencl

// What a backend implements: kernels, with the scratch they need, and copies.
//
// A kernel is two functions. `prepare` runs once per (op, attributes, specs): it may refuse with a
// reason, builds what is expensive and books scratch. `run` computes: it has no allocator in reach,
// gets exactly the scratch that was booked, and returns a Status for errors that depend on values.
//
//   constexpr KernelDef kActivation[] = {
//       {.op = OpId::Softmax, .dtypes = {DType::kFloat32}, .prepare = softmax_prepare, .run =
//       softmax_run},
//   };
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "ops/op_def.h"
#include "plimsoll/error.h"
#include "plimsoll/memory/budget.h"
#include "plimsoll/memory/source.h"

namespace plimsoll {

struct FusedProgram;  // backend/api/fused.h

// The outcome of a kernel: fine, or an error that depends on values.
class Status {
 public:
  static constexpr std::size_t kMaxText = 1000;

  Status() noexcept = default;  // fine
  // `format` is a literal with up to three {} for the numbers: nothing is allocated on the way.
  Status(ErrorCode code, const char* format, std::int64_t a = 0, std::int64_t b = 0,
         std::int64_t c = 0) noexcept
      : format_(format), numbers_{a, b, c}, code_(code) {}
  // Words that are made when it happens; they are kept here, up to kMaxText of them.
  static Status with_text(ErrorCode code, std::string_view text) noexcept;

  bool ok() const noexcept { return format_ == nullptr; }
  void throw_if_error(std::string_view op) const;

 private:
  const char* format_ = nullptr;
  std::int64_t numbers_[3] = {};
  ErrorCode code_ = ErrorCode::kInternal;
  std::uint16_t text_size_ = 0;
  char text_[kMaxText];  // the first text_size_ are set
};

// Bytes of a device's memory, as kernels see them.
struct DeviceSpan {
  memory::Address buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;

  template <class T>
  T* as() const noexcept {  // pre: host memory
    return reinterpret_cast<T*>(buffer + offset);
  }
};

// A device whose memory no pointer of the CPU reaches: kernels find their queue here, and the
// runtime copies through it, in the order of the kernels. read and write return when done.
class RemoteDevice {
 public:
  virtual ~RemoteDevice() = default;
  virtual Status read(void* to, memory::Address from, std::uint64_t nbytes) noexcept = 0;
  virtual Status write(memory::Address to, const void* from, std::uint64_t nbytes) noexcept = 0;
  // The ranges may overlap.
  virtual Status move(memory::Address to, memory::Address from, std::uint64_t nbytes) noexcept = 0;
  // Where compiled programs are booked, under the `cache` tag.
  virtual void book_programs_on(const memory::Budget& budget) = 0;
};

// An op with everything known but the values.
struct KernelCall {
  OpId op;
  const Attrs& attrs;
  std::span<const TensorSpec> in;
  std::span<const TensorSpec> out;
  const FusedProgram* program = nullptr;  // of OpId::Fused
  RemoteDevice* device = nullptr;         // in `prepare`, of a backend that has one
};

// Where `prepare` books scratch. Slots are granted as one span each, aligned to 64 bytes.
class ScratchBook {
 public:
  static constexpr int kMaxSlots = 12;

  // Returns the slot's number, from 0.
  int book(std::uint64_t nbytes);
  std::uint64_t total_bytes() const noexcept { return total_; }
  int num_slots() const noexcept { return num_; }
  // The spans of the slots inside a block of total_bytes().
  std::span<const DeviceSpan> grant(memory::Address block,
                                    DeviceSpan (&spans)[kMaxSlots]) const noexcept;

 private:
  int num_ = 0;
  std::uint64_t nbytes_[kMaxSlots] = {};
  std::uint64_t total_ = 0;
};

// What `prepare` made; const and shared by threads.
struct KernelState {
  virtual ~KernelState() = default;
  virtual std::uint64_t nbytes() const noexcept { return 256; }  // for the cache's books
};
using KernelStatePtr = std::shared_ptr<const KernelState>;

struct RunArgs {
  const KernelCall& call;
  std::span<const DeviceSpan> in;
  std::span<const DeviceSpan> out;
  std::span<const DeviceSpan> scratch;  // one per booked slot
  const KernelState* state;             // null if there is no `prepare`

  const Attrs& attrs() const noexcept { return call.attrs; }
};

// A small set of dtypes.
class DTypeSet {
 public:
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ |= 1U << static_cast<unsigned>(dtype);
  }
  constexpr bool has(DType dtype) const noexcept {
    return bits_ >> static_cast<unsigned>(dtype) & 1U;
  }

 private:
  std::uint32_t bits_ = 0;
};

struct KernelDef {
  OpId op;
  DTypeSet dtypes;  // of input 0 (of output 0 where there is no input)
  // Null: all calls of these dtypes. False: the next row is asked; costs no exception and no
  // look-up.
  bool (*accepts)(const KernelCall&) noexcept = nullptr;
  // Throws UnimplementedError with the reason to refuse; the next row is then asked.
  KernelStatePtr (*prepare)(const KernelCall&, ScratchBook&) = nullptr;
  Status (*run)(const RunArgs&) noexcept = nullptr;
};

// A backend: its rows, in order of preference.
struct Backend {
  std::string name;
  std::vector<std::span<const KernelDef>> tables;
  RemoteDevice* device = nullptr;  // null: kernels run on the CPU, in memory that it reaches
};

// The rows of a backend by op, for look-up without search.
class KernelTable {
 public:
  explicit KernelTable(const Backend& backend);
  std::span<const KernelDef* const> rows(OpId op) const noexcept {
    return rows_[static_cast<std::size_t>(op)];
  }
  const std::string& backend_name() const noexcept { return name_; }
  RemoteDevice* device() const noexcept { return device_; }

 private:
  std::string name_;
  RemoteDevice* device_;
  std::vector<std::vector<const KernelDef*>> rows_;
};

}  // namespace plimsoll

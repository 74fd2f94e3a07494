#include "data/jpeg_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

// Arrays that libjpeg reaches by access_virt_*: the whole image's coefficients, in memory. libjpeg
// names the types and leaves them to the memory manager.
struct VirtualArray {
  JDIMENSION num_rows = 0, row_size = 0, max_access = 0;
  JDIMENSION first_undefined = 0;  // rows before it were asked for
  bool is_zeroed = false;          // rows are zero at first
};
struct jvirt_sarray_control : VirtualArray {
  JSAMPARRAY rows = nullptr;  // null: not realized yet
  jvirt_sarray_control* next = nullptr;
};
struct jvirt_barray_control : VirtualArray {
  JBLOCKARRAY rows = nullptr;
  jvirt_barray_control* next = nullptr;
};

namespace plimsoll::io {

// What follows a chunk are its bytes.
struct alignas(LibraryMemory::kAlignment) JpegMemory::Chunk {
  Chunk* next;
  std::size_t capacity, used;
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

// As C wants them. Errors leave by longjmp: nothing here has to be destroyed.
struct JpegMethods {
  using Chunk = JpegMemory::Chunk;
  using Pool = JpegMemory::Pool;
  static constexpr std::size_t kSmallAlignment = 32;  // what SIMD of libjpeg-turbo wants
  static constexpr std::size_t kRowAlignment = 64;    // it reads and writes rows to their end

  static JpegMemory& memory_of(j_common_ptr jpeg) noexcept {
    return *static_cast<JpegMemory*>(jpeg->mem);
  }
  static Pool& pool_of(j_common_ptr jpeg, int number) {
    if (number < 0 || number >= JPOOL_NUMPOOLS) ERREXIT1(jpeg, JERR_BAD_POOL_ID, number);
    return memory_of(jpeg).pools_[number];
  }
  static Chunk* add_chunk(j_common_ptr jpeg, Pool& pool, std::size_t nbytes) {
    void* const place = memory_of(jpeg).memory_.try_allocate(sizeof(Chunk) + nbytes);
    if (!place) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    auto* chunk = new (place) Chunk{pool.chunks, nbytes, 0};
    pool.chunks = chunk;
    return chunk;
  }

  static void* alloc_small(j_common_ptr jpeg, int number, std::size_t nbytes) {
    constexpr std::size_t kChunk[JPOOL_NUMPOOLS] = {4u << 10, 16u << 10};
    Pool& pool = pool_of(jpeg, number);
    if (nbytes > PTRDIFF_MAX) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    nbytes = (nbytes + kSmallAlignment - 1) / kSmallAlignment * kSmallAlignment;
    Chunk* chunk = pool.chunks;
    if (!chunk || chunk->capacity - chunk->used < nbytes)
      chunk = add_chunk(jpeg, pool, std::max(nbytes, kChunk[number]));
    std::byte* const place = chunk->data() + chunk->used;
    chunk->used += nbytes;
    return place;
  }

  static void* alloc_large(j_common_ptr jpeg, int number, std::size_t nbytes) {
    Pool& pool = pool_of(jpeg, number);
    if (nbytes > PTRDIFF_MAX) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    Chunk* const before = pool.chunks;
    Chunk* const chunk = add_chunk(jpeg, pool, nbytes);
    chunk->used = nbytes;
    if (before) {  // which has room for small pieces still
      pool.chunks = before;
      chunk->next = before->next;
      before->next = chunk;
    }
    return chunk->data();
  }

  // Rows of `row_bytes`, one behind the other.
  template <class Row>
  static Row* alloc_rows(j_common_ptr jpeg, int number, std::size_t row_bytes, JDIMENSION num) {
    if (num > 0 && row_bytes > PTRDIFF_MAX / num) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    auto** rows = static_cast<Row*>(alloc_small(jpeg, number, num * sizeof(Row)));
    auto* data = static_cast<std::byte*>(alloc_large(jpeg, number, row_bytes * num));
    for (JDIMENSION i = 0; i < num; ++i) rows[i] = reinterpret_cast<Row>(data + i * row_bytes);
    return rows;
  }
  static JSAMPARRAY alloc_sarray(j_common_ptr jpeg, int number, JDIMENSION width, JDIMENSION num) {
    const std::size_t row =
        (width * sizeof(JSAMPLE) + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    return alloc_rows<JSAMPROW>(jpeg, number, row, num);
  }
  static JBLOCKARRAY alloc_barray(j_common_ptr jpeg, int number, JDIMENSION width, JDIMENSION num) {
    return alloc_rows<JBLOCKROW>(jpeg, number, width * sizeof(JBLOCK), num);
  }

  template <class Control>
  static Control* request(j_common_ptr jpeg, int number, Control* Pool::*list, boolean pre_zero,
                          JDIMENSION width, JDIMENSION num, JDIMENSION max_access) {
    if (number != JPOOL_IMAGE) ERREXIT1(jpeg, JERR_BAD_POOL_ID, number);
    auto* control = new (alloc_small(jpeg, number, sizeof(Control))) Control;
    control->num_rows = num;
    control->row_size = width;
    control->max_access = max_access;
    control->is_zeroed = pre_zero != 0;
    Pool& pool = pool_of(jpeg, number);
    control->next = pool.*list;
    pool.*list = control;
    return control;
  }
  static jvirt_sarray_ptr request_sarray(j_common_ptr jpeg, int number, boolean pre_zero,
                                         JDIMENSION width, JDIMENSION num, JDIMENSION max_access) {
    return request(jpeg, number, &Pool::samples, pre_zero, width, num, max_access);
  }
  static jvirt_barray_ptr request_barray(j_common_ptr jpeg, int number, boolean pre_zero,
                                         JDIMENSION width, JDIMENSION num, JDIMENSION max_access) {
    return request(jpeg, number, &Pool::blocks, pre_zero, width, num, max_access);
  }

  static void realize(j_common_ptr jpeg) {
    Pool& pool = pool_of(jpeg, JPOOL_IMAGE);
    for (auto* array = pool.samples; array; array = array->next) {
      if (!array->rows)
        array->rows = alloc_sarray(jpeg, JPOOL_IMAGE, array->row_size, array->num_rows);
    }
    for (auto* array = pool.blocks; array; array = array->next) {
      if (!array->rows)
        array->rows = alloc_barray(jpeg, JPOOL_IMAGE, array->row_size, array->num_rows);
    }
  }

  template <class Control>
  static auto access(j_common_ptr jpeg, Control* array, JDIMENSION first, JDIMENSION num,
                     boolean writable, std::size_t unit) {
    const std::uint64_t end = std::uint64_t{first} + num;
    if (end > array->num_rows || num > array->max_access || !array->rows)
      ERREXIT(jpeg, JERR_BAD_VIRTUAL_ACCESS);
    if (array->first_undefined < end) {
      if (!array->is_zeroed && !writable) ERREXIT(jpeg, JERR_BAD_VIRTUAL_ACCESS);
      for (JDIMENSION i = array->first_undefined; i < end && array->is_zeroed; ++i)
        std::memset(array->rows[i], 0, array->row_size * unit);
      array->first_undefined = static_cast<JDIMENSION>(end);
    }
    return array->rows + first;
  }
  static JSAMPARRAY access_sarray(j_common_ptr jpeg, jvirt_sarray_ptr array, JDIMENSION first,
                                  JDIMENSION num, boolean writable) {
    return access(jpeg, array, first, num, writable, sizeof(JSAMPLE));
  }
  static JBLOCKARRAY access_barray(j_common_ptr jpeg, jvirt_barray_ptr array, JDIMENSION first,
                                   JDIMENSION num, boolean writable) {
    return access(jpeg, array, first, num, writable, sizeof(JBLOCK));
  }

  static void free_pool(j_common_ptr jpeg, int number) {
    Pool& pool = pool_of(jpeg, number);
    while (Chunk* const chunk = pool.chunks) {
      pool.chunks = chunk->next;
      memory_of(jpeg).memory_.free(chunk);
    }
    pool = {};
  }
  static void self_destruct(j_common_ptr jpeg) {
    JpegMemory& memory = memory_of(jpeg);
    for (int number = JPOOL_NUMPOOLS - 1; number >= JPOOL_PERMANENT; --number)
      free_pool(jpeg, number);
    jpeg->mem = memory.original_;
    jpeg->mem->self_destruct(jpeg);
    memory.original_ = nullptr;
    memory.created_.release();
  }
};

JpegMemory::JpegMemory(const char* what)
    : jpeg_memory_mgr{}, memory_(what), created_(memory_.reserve(kCreateBytes)) {}

void JpegMemory::take_over(j_common_ptr jpeg) noexcept {
  original_ = jpeg->mem;
  max_memory_to_use = original_->max_memory_to_use;
  max_alloc_chunk = original_->max_alloc_chunk;
  alloc_small = JpegMethods::alloc_small;
  alloc_large = JpegMethods::alloc_large;
  alloc_sarray = JpegMethods::alloc_sarray;
  alloc_barray = JpegMethods::alloc_barray;
  request_virt_sarray = JpegMethods::request_sarray;
  request_virt_barray = JpegMethods::request_barray;
  realize_virt_arrays = JpegMethods::realize;
  access_virt_sarray = JpegMethods::access_sarray;
  access_virt_barray = JpegMethods::access_barray;
  free_pool = JpegMethods::free_pool;
  self_destruct = JpegMethods::self_destruct;
  jpeg->mem = this;
}

}  // namespace plimsoll::io

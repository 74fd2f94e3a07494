// Counts what malloc has given to a thread, the test's own calls and those of libraries. It
// replaces malloc: for one source file of a program, outside of namespaces. Sanitizers have a
// malloc of their own, and are left alone: PLIMSOLL_COUNTS_MALLOCS is 0 then.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLIMSOLL_COUNTS_MALLOCS 0
#else
#define PLIMSOLL_COUNTS_MALLOCS 1

namespace {
constinit thread_local std::int64_t malloced_bytes = 0;
constinit thread_local std::int64_t most_malloced_bytes = 0;

void* count_malloc(void* p) noexcept {
  if (p) malloced_bytes += static_cast<std::int64_t>(malloc_usable_size(p));
  most_malloced_bytes = std::max(most_malloced_bytes, malloced_bytes);
  return p;
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) {
  return count_malloc(__libc_malloc(size));
}
void* calloc(std::size_t num, std::size_t size) {
  return count_malloc(__libc_calloc(num, size));
}
void* memalign(std::size_t alignment, std::size_t size) {
  return count_malloc(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return count_malloc(__libc_memalign(alignment, size));
}
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  *to = count_malloc(__libc_memalign(alignment, size));
  return *to ? 0 : ENOMEM;
}
void* realloc(void* old, std::size_t size) {
  const auto before = static_cast<std::int64_t>(old ? malloc_usable_size(old) : 0);
  void* const p = __libc_realloc(old, size);
  if (p || size == 0) malloced_bytes -= before;
  return count_malloc(p);
}
void free(void* p) {
  if (p) malloced_bytes -= static_cast<std::int64_t>(malloc_usable_size(p));
  __libc_free(p);
}
}
#endif

#include "runtime/copies.h"

#include <algorithm>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

constexpr std::uint64_t kPiece = 4_MiB;
constexpr std::uint64_t kSmallestPiece = 4_KiB;

memory::Owner staging_owner() {
  static const memory::Owner owner(memory::Tag::kStaging, "copies");
  return owner;
}

// Calls move(offset, nbytes) for the pieces that fit into the lease.
template <class Move>
void in_pieces(std::uint64_t nbytes, const StagingLease& lease, Move move) {
  PLIMSOLL_ASSERT(nbytes == 0 || lease.nbytes() > 0);
  for (std::uint64_t at = 0; at < nbytes; at += lease.nbytes())
    move(at, std::min(lease.nbytes(), nbytes - at));
}

}  // namespace

Staging::Staging(memory::SourcePtr source, const memory::Budget& budget)
    : budget_(budget), heap_(std::move(source), budget, {.name = "staging"}) {}

StagingLease::StagingLease(Staging& staging, std::uint64_t largest) : lock_(staging.mutex_) {
  const std::uint64_t limit = staging.budget().limit() / 64 * 64;
  std::uint64_t piece =
      std::min({std::max<std::uint64_t>(largest, 1), kPiece, std::max<std::uint64_t>(limit, 1)});
  memory::Refusal why;
  while (!staging.heap().try_allocate(piece, staging_owner(), &block_, &why)) {
    PLIMSOLL_CHECK(piece > kSmallestPiece, ResourceExhaustedError,
                   "OOM when staging a copy of {} between devices\n{}", format_bytes(largest),
                   memory::describe(why));
    piece = std::max(kSmallestPiece, piece / 2);
  }
}

StagingLease StagingLease::between(const Device& src, const Device& dst, std::uint64_t largest) {
  if (&src == &dst || (src.is_host() && dst.is_host()) || largest == 0) return {};
  return {Context::get().staging(), largest};
}

void copy_between(const Device& src, memory::Address from, const Device& dst, memory::Address to,
                  std::uint64_t nbytes, const StagingLease& lease) {
  if (src.is_host()) {
    copy_from_host(reinterpret_cast<const void*>(from), dst, to, nbytes, lease);
  } else if (dst.is_host()) {
    copy_to_host(src, from, reinterpret_cast<void*>(to), nbytes, lease);
  } else if (&src == &dst) {
    dst.move(to, from, nbytes);
  } else {
    in_pieces(nbytes, lease, [&](std::uint64_t at, std::uint64_t n) {
      src.read(lease.data(), from + at, n);
      dst.write(to + at, lease.data(), n);
    });
  }
}

void copy_from_host(const void* from, const Device& dst, memory::Address to, std::uint64_t nbytes,
                    const StagingLease& lease) {
  const auto* bytes = static_cast<const char*>(from);
  if (dst.is_host()) {
    dst.write(to, bytes, nbytes);
    return;
  }
  in_pieces(nbytes, lease, [&](std::uint64_t at, std::uint64_t n) {
    std::copy_n(bytes + at, n, static_cast<char*>(lease.data()));
    dst.write(to + at, lease.data(), n);
  });
}

void copy_to_host(const Device& src, memory::Address from, void* to, std::uint64_t nbytes,
                  const StagingLease& lease) {
  auto* bytes = static_cast<char*>(to);
  if (src.is_host()) {
    src.read(bytes, from, nbytes);
    return;
  }
  in_pieces(nbytes, lease, [&](std::uint64_t at, std::uint64_t n) {
    src.read(lease.data(), from + at, n);
    std::copy_n(static_cast<const char*>(lease.data()), n, bytes + at);
  });
}

Tensor copy_to(Device& dst, const Tensor& src, memory::Owner owner) {
  const Device& from = *owner_of(src);
  const auto nbytes = static_cast<std::uint64_t>(src.nbytes());
  const StagingLease lease = StagingLease::between(from, dst, nbytes);
  Tensor made = allocate_tensor(dst, src.dtype(), src.shape(), owner);
  copy_between(from, address_of(src), dst, address_of(made), nbytes, lease);
  return made;
}

}  // namespace plimsoll

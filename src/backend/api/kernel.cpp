#include "backend/api/kernel.h"

#include "base/check.h"

namespace plimsoll {

void Status::throw_if_error(std::string_view op) const {
  if (ok()) return;
  const std::string text =
      fmt::format(fmt::runtime(format_), numbers_[0], numbers_[1], numbers_[2]) +
      fmt::format(" [Op:{}]", op);
  switch (code_) {
    case ErrorCode::kInvalidArgument:
      throw InvalidArgumentError(text);
    case ErrorCode::kResourceExhausted:
      throw ResourceExhaustedError(text);
    case ErrorCode::kUnimplemented:
      throw UnimplementedError(text);
    default:
      throw InternalError(text);
  }
}

int ScratchBook::book(std::uint64_t nbytes) {
  PLIMSOLL_CHECK(num_ < kMaxSlots, InternalError, "a kernel books more than {} scratch slots",
                 kMaxSlots);
  nbytes_[num_] = nbytes;
  total_ += (nbytes + 63) / 64 * 64;
  return num_++;
}

std::span<const DeviceSpan> ScratchBook::grant(memory::Address block,
                                               DeviceSpan (&spans)[8]) const noexcept {
  std::uint64_t at = 0;
  for (int i = 0; i < num_; ++i) {
    spans[i] = {block, at, nbytes_[i]};
    at += (nbytes_[i] + 63) / 64 * 64;
  }
  return {spans, static_cast<std::size_t>(num_)};
}

KernelTable::KernelTable(const Backend& backend) : name_(backend.name), rows_(kNumOps) {
  for (const auto table : backend.tables) {
    for (const KernelDef& def : table) rows_[static_cast<std::size_t>(def.op)].push_back(&def);
  }
}

}  // namespace plimsoll

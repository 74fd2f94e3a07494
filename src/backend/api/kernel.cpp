#include "backend/api/kernel.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll {

Status Status::with_text(ErrorCode code, std::string_view text) noexcept {
  Status status(code, "");
  status.text_size_ = static_cast<std::uint16_t>(std::min(text.size(), kMaxText));
  std::copy_n(text.data(), status.text_size_, status.text_);
  return status;
}

void Status::throw_if_error(std::string_view op) const {
  if (ok()) return;
  const std::string words =
      text_size_ ? std::string(text_, text_size_)
                 : fmt::format(fmt::runtime(format_), numbers_[0], numbers_[1], numbers_[2]);
  const std::string text = fmt::format("{} [Op:{}]", words, op);
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
                                               DeviceSpan (&spans)[kMaxSlots]) const noexcept {
  std::uint64_t at = 0;
  for (int i = 0; i < num_; ++i) {
    spans[i] = {block, at, nbytes_[i]};
    at += (nbytes_[i] + 63) / 64 * 64;
  }
  return {spans, static_cast<std::size_t>(num_)};
}

KernelTable::KernelTable(const Backend& backend)
    : name_(backend.name), device_(backend.device), rows_(kNumOps) {
  for (const auto table : backend.tables) {
    for (const KernelDef& def : table) rows_[static_cast<std::size_t>(def.op)].push_back(&def);
  }
}

}  // namespace plimsoll

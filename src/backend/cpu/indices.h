// Reading indices, and the words for one that is out of range.
#pragma once

#include <fmt/format.h>

#include <array>

#include "backend/api/kernel.h"

namespace plimsoll::cpu {

// Text in place, for messages of kernels.
class Words {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto made =
        fmt::format_to_n(text_ + size_, sizeof(text_) - size_, format, std::forward<Args>(args)...);
    size_ += std::min<std::size_t>(made.size, sizeof(text_) - size_);
  }
  void add_list(std::span<const std::int64_t> numbers, const char* comma) {
    for (std::size_t i = 0; i < numbers.size(); ++i) add("{}{}", i ? comma : "", numbers[i]);
  }
  // "indices[1,0]": a position among the first `rank` dimensions of a shape.
  void add_position(const char* name, const Shape& shape, int rank, std::int64_t at) {
    std::array<std::int64_t, kMaxRank> position{};
    for (int i = rank - 1; i >= 0; --i) {
      position[static_cast<std::size_t>(i)] = at % shape.dim(i);
      at /= shape.dim(i);
    }
    add("{}", name);
    if (rank == 0) return;
    add("[");
    add_list({position.data(), static_cast<std::size_t>(rank)}, ",");
    add("]");
  }
  Status status() const noexcept {
    return Status::with_text(ErrorCode::kInvalidArgument, {text_, size_});
  }

 private:
  char text_[240];
  std::size_t size_ = 0;
};

// Calls f with the indices as a typed pointer; returns what it returns.
template <class F>
Status with_indices(const RunArgs& args, std::size_t i, F&& f) noexcept {
  return args.call.in[i].dtype == DType::kInt32 ? f(args.in[i].as<const std::int32_t>())
                                                : f(args.in[i].as<const std::int64_t>());
}

}  // namespace plimsoll::cpu

// Tensors as text, in TensorFlow's two forms. Nothing is allocated: text goes out in chunks, or
// into a message that ends when it is full.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/types.h"
#include "base/short_number.h"

namespace plimsoll::cpu {
namespace {

class Text {
 public:
  explicit Text(std::FILE* file = nullptr) noexcept : file_(file) {}

  void put(std::string_view words) noexcept {
    while (!words.empty()) {
      const std::size_t n = std::min(words.size(), sizeof(chars_) - size_);
      std::memcpy(chars_ + size_, words.data(), n);
      size_ += n;
      words.remove_prefix(n);
      if (size_ < sizeof(chars_)) return;
      if (!file_) return;
      flush();
    }
  }
  void flush() noexcept {
    std::fwrite(chars_, 1, size_, file_);
    size_ = 0;
  }
  std::string_view words() const noexcept { return {chars_, size_}; }

 private:
  std::FILE* const file_;
  std::size_t size_ = 0;
  char chars_[Status::kMaxText];
};

template <class T>
void put_number(Text& text, T element) noexcept {
  NumberText digits;
  const auto value = static_cast<compute_t<T>>(element);
  if constexpr (std::is_same_v<T, bool>) {
    text.put(element ? "1" : "0");
  } else if constexpr (std::is_floating_point_v<compute_t<T>>) {
    text.put(short_number(value, digits));
  } else {
    const auto made = fmt::format_to_n(digits, sizeof digits, "{}", std::int64_t{value});
    text.put({digits, static_cast<std::size_t>(made.out - digits)});
  }
}

std::int64_t elements_below(const Shape& shape, int dim) noexcept {
  std::int64_t num = 1;
  for (int d = dim + 1; d < shape.rank(); ++d) num *= shape.dim(d);
  return num;
}

// As tf.print does: [[1 2 3 ... 8 9 10]
//                    [...
// `ends` elements at either end of each dimension; all if it is negative.
template <class T>
void put_nested(Text& text, const T* data, const Shape& shape, int dim,
                std::int64_t ends) noexcept {
  if (dim == shape.rank()) return put_number(text, *data);
  const std::int64_t num = shape.dim(dim), below = elements_below(shape, dim);
  const bool is_cut = ends >= 0 && num > 2 * ends;
  const auto put_space = [&] {
    if (dim + 1 == shape.rank()) return text.put(" ");
    for (int i = dim + 1; i < shape.rank(); ++i) text.put("\n");
    for (int i = 0; i <= dim; ++i) text.put(" ");
  };
  text.put("[");
  for (std::int64_t i = 0; i < num; ++i) {
    if (i > 0) put_space();
    if (is_cut && i == ends) {
      text.put("...");
      i = num - ends - 1;
      continue;
    }
    put_nested(text, data + i * below, shape, dim + 1, ends);
  }
  text.put("]");
}

// As TensorFlow's Assert does: the first `limit` elements, [1 2 3][4 5...]...
template <class T>
void put_first(Text& text, const T* data, const Shape& shape, int dim, std::int64_t limit,
               std::int64_t& num_put) noexcept {
  if (dim == shape.rank()) {
    ++num_put;
    return put_number(text, *data);
  }
  const std::int64_t below = elements_below(shape, dim);
  const bool is_row = dim + 1 == shape.rank();
  for (std::int64_t i = 0; i < shape.dim(dim); ++i) {
    if (num_put >= limit) {
      if (is_row && dim > 0) text.put("...");
      return;
    }
    text.put(!is_row ? "[" : i ? " " : "");
    put_first(text, data + i * below, shape, dim + 1, limit, num_put);
    if (!is_row) text.put("]");
  }
}

enum class Form { kNested, kFirst };

void put_tensor(Text& text, const RunArgs& args, std::size_t i, Form form,
                std::int64_t summarize) noexcept {
  const TensorSpec& spec = args.call.in[i];
  visit_dtype(spec.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = args.in[i].as<const T>();
    if (form == Form::kNested) return put_nested(text, data, spec.shape, 0, summarize);
    const std::int64_t all = spec.shape.num_elements();
    const std::int64_t limit = summarize < 0 ? all : std::min(all, summarize);
    std::int64_t num_put = 0;
    if (all > 0) put_first(text, data, spec.shape, 0, limit, num_put);
    if (limit < all) text.put("...");
  });
}

// Puts input `first`, a text, with the tensors behind it where it has zeros.
void put_all(Text& text, const RunArgs& args, std::size_t first, Form form,
             std::int64_t summarize) noexcept {
  std::string_view words(args.in[first].as<const char>(), args.in[first].nbytes);
  for (std::size_t i = first + 1;; ++i) {
    const std::size_t end = words.find('\0');
    text.put(words.substr(0, end));
    if (end == std::string_view::npos || i >= args.in.size()) return;
    put_tensor(text, args, i, form, summarize);
    words.remove_prefix(end + 1);
  }
}

Status run_print(const RunArgs& args) noexcept {
  Text text(stderr);
  flockfile(stderr);  // no other thread's words between ours
  put_all(text, args, 0, Form::kNested, args.attrs()[attr::Print::summarize].as_int());
  text.flush();
  funlockfile(stderr);
  return {};
}

Status run_assert(const RunArgs& args) noexcept {
  if (*args.in[0].as<const bool>()) return {};
  Text text;
  put_all(text, args, 1, Form::kFirst, args.attrs()[attr::Assert::summarize].as_int());
  return Status::with_text(ErrorCode::kInvalidArgument, text.words());
}

const KernelDef kRows[] = {
    {.op = OpId::Print, .dtypes = {DType::kUInt8}, .run = run_print},
    {.op = OpId::Assert, .dtypes = {DType::kBool}, .run = run_assert},
};

}  // namespace

std::span<const KernelDef> debugging_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

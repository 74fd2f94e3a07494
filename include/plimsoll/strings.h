// tf.strings: tensors of strings, element by element, on the host.
//
//   tf::Tensor words = tf::constant({std::string("Red fox"), std::string("2 hens")}, {2});
//   tf::strings::upper(words);                                     // RED FOX, 2 HENS
//   tf::strings::regex_replace(words, "([a-z]+) ([a-z]+)", "\\2 \\1");
//   tf::strings::split(words).to_tensor();                         // [[Red fox] [2 hens]]
//
// Strings are bytes; where letters count, unit or encoding say so. memory: results, under the name
// of TensorFlow's op, booked string by string before they exist. throws, all of them:
// InvalidArgumentError for another type than string; ResourceExhaustedError.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/ragged.h"
#include "plimsoll/tensor.h"

namespace plimsoll::strings {

// unit: "BYTE", or "UTF8_CHAR" for letters. int32.
Tensor length(const Tensor& input, std::string_view unit = "BYTE");
// encoding: "" for the letters of ASCII alone, or "utf-8", where bytes that are no letter become
// U+FFFD.
Tensor lower(const Tensor& input, std::string_view encoding = "");
Tensor upper(const Tensor& input, std::string_view encoding = "");
Tensor strip(const Tensor& input);  // of white space of ASCII, at both ends

// Side by side; scalars stand beside every element. throws: InvalidArgumentError for shapes that
// differ.
Tensor join(std::span<const Tensor> inputs, std::string_view separator = "");
// Along axes, of which the last one varies most slowly; none: all, in their order.
// throws: InvalidArgumentError for an axis that is not there, or there twice.
Tensor reduce_join(const Tensor& inputs, const std::optional<std::vector<std::int64_t>>& axis = {},
                   bool keepdims = false, std::string_view separator = "");

// Parts between separators; an empty `sep` stands for any white space. maxsplit: separators that
// count; negative: all. A scalar gives one row, more dimensions more splits.
RaggedTensor split(const Tensor& input, std::string_view sep = "", std::int64_t maxsplit = -1);
RaggedTensor bytes_split(const Tensor& input);
// `len` bytes or letters from `pos` on, which counts from the end if it is negative. pos and len
// are int32 or int64 of one shape; input and they are broadcast. throws: InvalidArgumentError for a
// position outside of a string.
Tensor substr(const Tensor& input, const Tensor& pos, const Tensor& len,
              std::string_view unit = "BYTE");

// out_type: float32, float64, int32 or int64. throws: InvalidArgumentError that shows the string.
Tensor to_number(const Tensor& input, DType out_type = float32);
struct AsStringOptions {
  std::int64_t precision = -1;  // digits behind the point; of numbers with a point only
  bool scientific = false;
  bool shortest = false;
  std::int64_t width = -1;
  std::string fill = {};  // "0", "-" for the left, "+", " "; or nothing
};
Tensor as_string(const Tensor& input, const AsStringOptions& options = {});

// RE2's expressions, as in TensorFlow. \1 to \9 in `rewrite` are groups, \0 is the match.
// memory: besides results, up to 8 MiB that RE2 holds while the call runs, and that are not booked.
// throws: InvalidArgumentError for what is no expression.
Tensor regex_replace(const Tensor& input, std::string_view pattern, std::string_view rewrite,
                     bool replace_global = true);
Tensor regex_full_match(const Tensor& input, std::string_view pattern);  // bool

// The template with tensors in place of its placeholders, as tf.print shows them. summarize:
// elements at either end of each dimension; negative: all.
// throws: InvalidArgumentError if there are not as many tensors as placeholders.
Tensor format(std::string_view text, std::span<const Tensor> inputs,
              std::string_view placeholder = "{}", std::int64_t summarize = 3);

// Numbers below num_buckets (int64), the same for the same string everywhere: TensorFlow's. _fast
// is the one to take; _strong needs a key and keeps others from guessing buckets.
// throws: InvalidArgumentError for less than one bucket.
Tensor to_hash_bucket_fast(const Tensor& input, std::int64_t num_buckets);
Tensor to_hash_bucket(const Tensor& input, std::int64_t num_buckets);
Tensor to_hash_bucket_strong(const Tensor& input, std::int64_t num_buckets,
                             const std::array<std::uint64_t, 2>& key);

}  // namespace plimsoll::strings

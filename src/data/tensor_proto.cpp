// Tensors as TensorFlow's TensorProto.
#include <array>
#include <limits>

#include "base/check.h"
#include "data/wire.h"
#include "plimsoll/data/io.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

using data::put_bytes;
using data::put_integer;
using data::put_varint;
using data::WireReader;
using data::WireType;

// TensorFlow's numbers of types, by DType.
constexpr std::array<int, kNumDTypes> kNumbers = {1, 2, 19, 14, 6, 4, 5, 17, 3, 9, 10, 7};

std::optional<DType> dtype_of_number(std::uint64_t number) {
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    if (static_cast<std::uint64_t>(kNumbers[i]) == number) return static_cast<DType>(i);
  }
  return {};
}

struct Proto {
  std::uint64_t dtype = 0;
  std::vector<std::int64_t> dims;
  std::string_view content;
  std::vector<std::string> strings;
  std::string values;  // of typed fields, as the elements have them
};

[[noreturn]] void cannot_parse(const char* what) {
  throw InvalidArgumentError(fmt::format("Could not parse `serialized` as TensorProto: {}", what));
}

void read_shape(std::string_view bytes, std::vector<std::int64_t>& dims) {
  WireReader shape(bytes);
  while (shape.next()) {
    if (shape.number() == 3 && shape.integer()) cannot_parse("its rank is not known");
    if (shape.number() != 2) continue;
    std::int64_t size = 0;
    WireReader dim(shape.bytes());
    while (dim.next()) {
      if (dim.number() == 1) size = static_cast<std::int64_t>(dim.integer());
    }
    if (!dim.is_ok() || size < 0) cannot_parse("its shape is damaged");
    dims.push_back(size);
  }
  if (!shape.is_ok() || dims.size() > static_cast<std::size_t>(kMaxRank))
    cannot_parse("its shape is damaged, or has more than 8 dimensions");
}

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The fields in which TensorFlow may list elements one by one.
bool read_values(const WireReader& field, std::optional<DType> dtype, std::string& to) {
  switch (field.number()) {
    case 5:
      return data::each_fixed<float>(field, [&](float v) { append(to, v); });
    case 6:
      return data::each_fixed<double>(field, [&](double v) { append(to, v); });
    case 10:
      return data::each_varint(field, [&](std::uint64_t v) { append(to, v); });
    case 11:
      return data::each_varint(field, [&](std::uint64_t v) { append(to, std::uint8_t{v != 0}); });
    default:  // 7, 13: smaller integers and halves
      return dtype && *dtype != DType::kString && data::each_varint(field, [&](std::uint64_t v) {
               to.append(reinterpret_cast<const char*>(&v),
                         static_cast<std::size_t>(dtype_size(*dtype)));
             });
  }
}

Proto read_proto(std::string_view bytes) {
  Proto proto;
  WireReader message(bytes);
  while (message.next()) {
    const std::uint32_t number = message.number();
    if (number == 1) {
      proto.dtype = message.integer();
    } else if (number == 2) {
      read_shape(message.bytes(), proto.dims);
    } else if (number == 4) {
      proto.content = message.bytes();
    } else if (number == 8) {
      proto.strings.emplace_back(message.bytes());
    } else if ((number >= 5 && number <= 7) || number == 10 || number == 11 || number == 13) {
      if (!read_values(message, dtype_of_number(proto.dtype), proto.values))
        cannot_parse("its values are damaged");
    }
  }
  if (!message.is_ok()) cannot_parse("the message is damaged or cut off");
  return proto;
}

// Lengths, then bytes.
std::vector<std::string> unpack_strings(std::string_view content, std::size_t count) {
  WireReader lengths(content);
  std::vector<std::uint64_t> sizes;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = lengths.varint();
    if (!size || *size > content.size()) cannot_parse("its strings are damaged");
    sizes.push_back(*size);
    sum += *size;
  }
  std::string_view rest = lengths.rest();
  if (sum != rest.size()) cannot_parse("its strings are damaged");
  std::vector<std::string> strings;
  for (const std::uint64_t size : sizes) {
    strings.emplace_back(rest.substr(0, static_cast<std::size_t>(size)));
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  return strings;
}

Tensor to_strings(Proto& proto, const Shape& shape) {
  const auto count = static_cast<std::uint64_t>(shape.num_elements());
  if (!proto.content.empty()) {
    if (count > proto.content.size()) cannot_parse("it has fewer strings than its shape says");
    proto.strings = unpack_strings(proto.content, static_cast<std::size_t>(count));
  }
  if (proto.strings.size() != count) {
    if (proto.strings.size() != 1) cannot_parse("it has not as many strings as its shape says");
    return fill(shape, proto.strings[0]);
  }
  return constant(std::span<const std::string>(proto.strings), shape);
}

Tensor to_numbers(const Proto& proto, DType dtype, const Shape& shape) {
  const auto size = static_cast<std::uint64_t>(dtype_size(dtype));
  const auto count = static_cast<std::uint64_t>(shape.num_elements());
  const std::string_view given = proto.content.empty() ? proto.values : proto.content;
  if (count <= std::numeric_limits<std::uint64_t>::max() / size && given.size() == count * size)
    return interop::copy_from_host(dtype, shape, given.data());
  // Values that are listed may end early: the last one fills the rest.
  if (!proto.content.empty() || given.size() > count * size || given.size() % size)
    cannot_parse("it has not as many bytes as its shape says");
  if (given.empty()) return zeros(shape, dtype);
  const auto listed = static_cast<std::int64_t>(given.size() / size);
  const Tensor head = interop::copy_from_host(dtype, {listed}, given.data());
  const Tensor last = interop::copy_from_host(dtype, {1}, given.data() + given.size() - size);
  const Tensor rest = broadcast_to(last, Shape{shape.num_elements() - listed});
  return reshape(concat({head, rest}, 0), proto.dims);
}

}  // namespace

std::string serialize_tensor(const Tensor& tensor) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "serialize_tensor needs a tensor");
  PLIMSOLL_CHECK(!interop::is_symbolic(tensor), FailedPreconditionError,
                 "serialize_tensor needs a tensor that has a value");
  std::string made, shape;
  put_integer(made, 1, static_cast<std::uint64_t>(kNumbers[static_cast<int>(tensor.dtype())]));
  for (const std::int64_t size : tensor.shape().dims()) {
    std::string dim;
    if (size) put_integer(dim, 1, static_cast<std::uint64_t>(size));
    put_bytes(shape, 2, dim);
  }
  put_bytes(made, 2, shape);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.to_vector<std::string>()) put_bytes(made, 8, text);
    return made;
  }
  const auto nbytes = static_cast<std::size_t>(tensor.nbytes());
  if (nbytes == 0) return made;
  data::put_tag(made, 4, WireType::kBytes);
  put_varint(made, nbytes);
  made.resize(made.size() + nbytes);
  interop::copy_to_host(tensor, made.data() + made.size() - nbytes);
  return made;
}

Tensor parse_tensor(std::string_view bytes) {
  Proto proto = read_proto(bytes);
  const std::optional<DType> dtype = dtype_of_number(proto.dtype);
  if (!dtype) cannot_parse("it is of a type that tensors do not have here");
  const Shape shape{std::span<const std::int64_t>(proto.dims)};
  return *dtype == DType::kString ? to_strings(proto, shape) : to_numbers(proto, *dtype, shape);
}

Tensor parse_tensor(std::string_view bytes, DType out_type) {
  const Proto proto = read_proto(bytes);
  const std::optional<DType> dtype = dtype_of_number(proto.dtype);
  PLIMSOLL_CHECK(dtype == out_type, InvalidArgumentError,
                 "Type mismatch between parsed tensor ({}) and dtype ({})",
                 dtype ? dtype_word(*dtype) : "none", dtype_word(out_type));
  return parse_tensor(bytes);
}

}  // namespace plimsoll::io

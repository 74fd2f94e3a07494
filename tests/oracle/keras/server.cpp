#include "oracle/keras/server.h"

#include <array>
#include <cstring>
#include <iostream>

#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  static const std::array<std::uint8_t, 256> values = [] {
    std::array<std::uint8_t, 256> made{};
    for (std::size_t i = 0; i < kDigits.size(); ++i)
      made[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
    return made;
  }();
  std::vector<std::uint8_t> out;
  std::uint32_t word = 0;
  int num_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | values[static_cast<unsigned char>(c)];
    num_bits += 6;
    if (num_bits >= 8) out.push_back(static_cast<std::uint8_t>(word >> (num_bits -= 8) & 255));
  }
  return out;
}

template <class T>
Tensor make(const std::vector<std::uint8_t>& bytes, const Shape& shape) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return constant(std::span<const T>(values), shape);
}
template <class T>
std::string bytes_of(const Tensor& t) {
  const std::vector<T> values = t.to_vector<T>();
  return to_base64(
      {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)});
}

}  // namespace

Tensor to_tensor(const Json& json) {
  std::vector<std::int64_t> dims;
  for (const Json& d : json.at("shape").as_array()) dims.push_back(d.as_int());
  const Shape shape{std::span<const std::int64_t>(dims)};
  const std::string& type = json.at("dtype").as_string();
  if (type == "string") {
    std::vector<std::string> words;
    for (const Json& word : json.at("data").as_array()) words.push_back(word.as_string());
    return constant(std::span<const std::string>(words), shape);
  }
  const std::vector<std::uint8_t> bytes = from_base64(json.at("data").as_string());
  switch (parse_dtype(type)) {
    case DType::kFloat64:
      return make<double>(bytes, shape);
    case DType::kInt32:
      return make<std::int32_t>(bytes, shape);
    case DType::kInt64:
      return make<std::int64_t>(bytes, shape);
    case DType::kUInt8:
      return make<std::uint8_t>(bytes, shape);
    case DType::kBool:
      return cast(make<std::uint8_t>(bytes, shape), bool_);
    case DType::kFloat16:
      return make<Half>(bytes, shape);
    default:
      return make<float>(bytes, shape);
  }
}

Json from_tensor(const Tensor& given) {
  if (!given.is_valid()) return Json();
  Tensor t = given;
  Json shape = Json::array();
  for (const std::int64_t d : t.shape().dims()) shape.push_back(d);
  Json json = Json::object({{"dtype", std::string(dtype_name(t.dtype()))}, {"shape", shape}});
  if (t.dtype() == DType::kString) {
    Json words = Json::array();
    for (const std::string& word : t.to_vector<std::string>()) words.push_back(word);
    json["data"] = words;
    return json;
  }
  switch (t.dtype()) {
    case DType::kFloat64:
      json["data"] = bytes_of<double>(t);
      break;
    case DType::kInt32:
      json["data"] = bytes_of<std::int32_t>(t);
      break;
    case DType::kInt64:
      json["data"] = bytes_of<std::int64_t>(t);
      break;
    case DType::kUInt8:
      json["data"] = bytes_of<std::uint8_t>(t);
      break;
    case DType::kBool:
      json["data"] = bytes_of<std::uint8_t>(cast(t, uint8));
      break;
    case DType::kFloat16:
      json["data"] = bytes_of<Half>(t);
      break;
    default:  // bfloat16 and the like go as float32, and keep their name
      json["data"] = bytes_of<float>(t.dtype() == DType::kFloat32 ? t : cast(t, float32));
  }
  return json;
}

keras::Nested to_nested(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_array()) {
    keras::Nested::List list;
    for (const Json& item : json.as_array()) list.push_back(to_nested(item));
    return list;
  }
  if (json.find("dtype") && json.find("data")) return to_tensor(json);
  keras::Nested::Dict dict;
  for (const auto& [key, item] : json.as_object()) dict.emplace_back(key, to_nested(item));
  return dict;
}

std::vector<Tensor> to_tensors(const Json& json) {
  std::vector<Tensor> tensors;
  if (json.is_null()) return tensors;
  for (const Json& item : json.as_array())
    tensors.push_back(item.is_null() ? Tensor() : to_tensor(item));
  return tensors;
}
Json from_tensors(std::span<const Tensor> tensors) {
  Json list = Json::array();
  for (const Tensor& t : tensors) list.push_back(from_tensor(t));
  return list;
}

namespace {

Json answer(const std::string& line) {
  try {
    const Json request = Json::parse(line);
    const std::string& what = request.at("do").as_string();
    for (const auto rows : {layer_handlers(), training_handlers(), model_handlers(),
                            callback_handlers(), file_handlers()}) {
      for (const HandlerRow& row : rows) {
        if (what == row.name) return row.run(request);
      }
    }
    throw InvalidArgumentError("no handler is called '" + what + "'");
  } catch (const Error& e) {
    return Json::object({{"error", e.name()}, {"message", e.what()}});
  } catch (const std::exception& e) {
    return Json::object({{"error", "exception"}, {"message", e.what()}});
  }
}

}  // namespace
}  // namespace plimsoll::oracle

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << plimsoll::oracle::answer(line).dump() << std::endl;
}

// h5_dump FILE: all that src/h5 reads from an HDF5 file, as JSON, for h5_test.py to compare with
// h5py. h5_dump --write FILE: reads JSON from the input and writes the file that it describes.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "h5/file.h"
#include "h5/read_all.h"
#include "h5/temporary.h"
#include "h5/writer.h"
#include "plimsoll/error.h"
#include "plimsoll/json.h"

namespace plimsoll::h5 {
namespace {

constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::vector<std::byte> from_base64(std::string_view text) {
  std::vector<std::byte> bytes;
  unsigned group = 0;
  int num_bits = 0;
  for (const char letter : text) {
    const char* found =
        letter == '\0' ? nullptr : std::char_traits<char>::find(kLetters, 64, letter);
    if (found == nullptr) break;
    group = group << 6 | static_cast<unsigned>(found - kLetters);
    num_bits += 6;
    if (num_bits >= 8) bytes.push_back(static_cast<std::byte>(group >> (num_bits -= 8) & 255));
  }
  return bytes;
}

Json strings_json(const std::vector<std::string>& strings) {
  Json list = Json::array();
  for (const std::string& text : strings) list.push_back(to_base64(std::as_bytes(std::span(text))));
  return list;
}

template <class Value>
Json head_json(const Value& value) {
  Json json = Json::object({{"type", value.type().name()}, {"shape", value.shape()}});
  if (value.is_null()) json["shape"] = nullptr;
  return json;
}

Json attribute_json(const Attribute& attribute) {
  Json json = head_json(attribute);
  if (attribute.type().is_string()) {
    json["strings"] = strings_json(attribute.strings());
  } else {
    json["data"] = to_base64(attribute.bytes());
  }
  return json;
}

Json dataset_json(const Dataset& dataset) {
  Json json = head_json(dataset);
  if (dataset.type().is_string()) {
    json["strings"] = strings_json(dataset.strings());
    return json;
  }
  if (dataset.nbytes() > (std::uint64_t{1} << 30)) throw ResourceExhaustedError("a large dataset");
  std::vector<std::byte> bytes(dataset.nbytes());
  dataset.read_into(bytes);
  json["data"] = to_base64(bytes);
  return json;
}

// What `make` gives, or its error.
template <class Make>
Json or_error(Make make) {
  try {
    return make();
  } catch (const Error& error) {
    return Json::object({{"error", error.name()}, {"message", error.what()}});
  }
}

Json object_json(const Object& object) {
  Json json = Json::object();
  if (object.is_group()) {
    Json names = Json::array();
    for (const std::string& name : object.link_names()) names.push_back(name);
    json["links"] = names;
  }
  if (object.is_dataset())
    json["dataset"] = or_error([&] { return dataset_json(object.dataset()); });
  Json attributes = Json::object();
  for (const std::string& name : object.attribute_names()) {
    attributes[name] = or_error([&] { return attribute_json(object.attribute(name)); });
  }
  json["attributes"] = attributes;
  return json;
}

void dump(const std::string& path) {
  const File file(path);
  Json objects = Json::object();
  for_each_object(file.root(),
                  [&](const Object& object) { objects[object.path()] = object_json(object); });
  std::cout << objects.dump() << '\n';
}

Type type_of(const std::string& name) {
  for (const Type& type :
       {Type::floating(2), Type::floating(4), Type::floating(8), Type::signed_int(1),
        Type::signed_int(2), Type::signed_int(4), Type::signed_int(8), Type::unsigned_int(1),
        Type::unsigned_int(2), Type::unsigned_int(4), Type::unsigned_int(8), Type::boolean()}) {
    if (type.name() == name) return type;
  }
  if (name.starts_with("S")) {
    return Type::fixed_string(static_cast<std::uint32_t>(std::stoul(name.substr(1))));
  }
  return Type::string();
}

Shape shape_of(const Json& json) {
  Shape shape;
  for (const Json& size : json.as_array())
    shape.push_back(static_cast<std::uint64_t>(size.as_int()));
  return shape;
}

std::vector<std::string> strings_of(const Json& json) {
  std::vector<std::string> strings;
  for (const Json& text : json.as_array()) strings.push_back(text.as_string());
  return strings;
}

// One request: {"do": "group" | "dataset" | "attribute", "path", "name", "type", "shape", ...}.
void write_one(Writer& writer, const Json& json) {
  const std::string& action = json.at("do").as_string();
  const std::string& path = json.at("path").as_string();
  if (action == "group") return writer.group(path);
  const Type type = type_of(json.at("type").as_string());
  const Shape shape = shape_of(json.at("shape"));
  if (const Json* strings = json.find("strings")) {
    if (action == "dataset") return writer.dataset(path, strings_of(*strings), shape, type);
    return writer.attribute(path, json.at("name").as_string(), strings_of(*strings), shape, type);
  }
  const std::vector<std::byte> bytes = from_base64(json.at("data").as_string());
  if (action == "dataset") return writer.dataset(path, type, shape, bytes);
  writer.attribute(path, json.at("name").as_string(), type, shape, bytes);
}

void write(const std::string& path) {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const Json requests = Json::parse(text);
  Writer writer(path);
  for (const Json& request : requests.as_array()) write_one(writer, request);
  writer.finish();
}

}  // namespace
}  // namespace plimsoll::h5

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 1) {
      plimsoll::h5::dump(arguments[0]);
    } else if (arguments.size() == 2 && arguments[0] == "--write") {
      plimsoll::h5::write(arguments[1]);
    } else if (arguments.size() == 2 && arguments[0] == "--damage") {
      std::cout << plimsoll::h5::read_damaged(plimsoll::h5::file_bytes(arguments[1])) << '\n';
    } else {
      std::cerr << "usage: h5_dump FILE | h5_dump --write FILE | h5_dump --damage FILE\n";
      return 2;
    }
  } catch (const plimsoll::Error& error) {
    std::cerr << error.name() << ": " << error.what() << '\n';
    return 1;
  }
}

// Attributes: small named values of a group or a dataset.
#pragma once

#include "h5/object_header.h"
#include "h5/type.h"

namespace plimsoll::h5 {

class Attribute {
 public:
  Attribute(std::shared_ptr<const Source> source, std::string name, Type type, Space space,
            std::vector<std::byte> raw)
      : source_(std::move(source)),
        name_(std::move(name)),
        type_(type),
        space_(std::move(space)),
        raw_(std::move(raw)) {}

  const std::string& name() const noexcept { return name_; }
  const Type& type() const noexcept { return type_; }
  const Shape& shape() const noexcept { return space_.shape; }
  bool is_null() const noexcept { return space_.is_null; }
  std::span<const std::byte> bytes() const noexcept { return raw_; }  // elements as they are stored

  // throws: InvalidArgumentError where the attribute holds something else.
  std::vector<std::string> strings() const;
  std::string string() const;           // of one element
  std::vector<double> numbers() const;  // of any type of numbers or booleans
  std::int64_t integer() const;         // of one element

 private:
  std::shared_ptr<const Source> source_;
  std::string name_;
  Type type_;
  Space space_;
  std::vector<std::byte> raw_;
};

// The names of all attributes, in the order in which they stand in the file.
std::vector<std::string> attribute_names(const Source& source,
                                         const std::vector<Message>& messages);
// throws: NotFoundError; UnimplementedError for types that are not read.
Attribute read_attribute(const std::shared_ptr<const Source>& source,
                         const std::vector<Message>& messages, std::string_view name);

}  // namespace plimsoll::h5

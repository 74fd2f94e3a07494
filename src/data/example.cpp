// TensorFlow's Example: names with lists of bytes, floats or integers.
#include <algorithm>

#include "base/check.h"
#include "data/host_values.h"
#include "data/wire.h"
#include "plimsoll/data/io.h"

namespace plimsoll::io {
namespace {

using data::put_bytes;
using data::WireReader;
using data::WireType;

// One feature as it stands in the message, not yet unpacked.
struct Found {
  std::uint32_t kind = 0;  // 1 bytes, 2 floats, 3 integers, as the message numbers them; 0: none
  std::string_view list;
};
constexpr const char* kKinds[] = {"none", "string", "float", "int64"};

[[noreturn]] void cannot_parse(std::string_view bytes) {
  std::string shown;
  for (const char c : bytes.substr(0, 64))
    shown += c >= ' ' && c < 127 ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  throw InvalidArgumentError(fmt::format("Could not parse example input, value: '{}'", shown));
}

// Calls f(name, feature) for each feature. False: damaged.
template <class F>
bool each_feature(std::string_view example, F&& f) {
  WireReader message(example);
  while (message.next()) {
    if (message.number() != 1) continue;
    WireReader features(message.bytes());
    while (features.next()) {
      if (features.number() != 1) continue;
      std::string_view name, value;
      WireReader member(features.bytes());
      while (member.next()) {
        if (member.number() == 1) name = member.bytes();
        if (member.number() == 2) value = member.bytes();
      }
      if (!member.is_ok()) return false;
      Found found;
      WireReader feature(value);
      while (feature.next()) {
        if (feature.number() >= 1 && feature.number() <= 3)
          found = {feature.number(), feature.bytes()};
      }
      if (!feature.is_ok()) return false;
      f(name, found);
    }
    if (!features.is_ok()) return false;
  }
  return message.is_ok();
}

// f of each value of a list. False: damaged.
template <class F>
bool each_text(std::string_view list, F&& f) {
  WireReader values(list);
  while (values.next()) {
    if (values.number() == 1) f(values.bytes());
  }
  return values.is_ok();
}
template <class F>
bool each_float(std::string_view list, F&& f) {
  WireReader values(list);
  while (values.next()) {
    if (values.number() == 1 && !data::each_fixed<float>(values, f)) return false;
  }
  return values.is_ok();
}
template <class F>
bool each_integer(std::string_view list, F&& f) {
  WireReader values(list);
  while (values.next()) {
    if (values.number() != 1) continue;
    if (!data::each_varint(values, [&](std::uint64_t v) { f(static_cast<std::int64_t>(v)); }))
      return false;
  }
  return values.is_ok();
}

std::uint32_t kind_of(DType dtype, const std::string& name) {
  PLIMSOLL_CHECK(dtype == float32 || dtype == int64 || dtype == DType::kString,
                 InvalidArgumentError,
                 "Feature: {} (data type: {}): a feature is of float32, int64 or string", name,
                 dtype_name(dtype));
  return dtype == DType::kString ? 1 : dtype == float32 ? 2 : 3;
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (const std::int64_t dim : shape) size *= dim;
  return size;
}

// The values of one feature of all examples, one after another.
class Column {
 public:
  Column(std::string name, const FeatureSpec& spec) : name_(std::move(name)), key_(name_) {
    std::visit([&](const auto& feature) { read_spec(feature); }, spec);
    for (const std::int64_t dim : shape_)
      PLIMSOLL_CHECK(dim >= 0, InvalidArgumentError,
                     "Feature: {} has a shape with a dimension that is not known", name_);
    kind_ = kind_of(dtype_, name_);
    width_ = product(shape_);
    if (default_.is_valid()) {
      PLIMSOLL_CHECK(default_.dtype() == dtype_, InvalidArgumentError,
                     "Feature: {}: the default value is of {}, the feature of {}", name_,
                     dtype_name(default_.dtype()), dtype_name(dtype_));
    }
  }

  const std::string& name() const { return name_; }
  const std::string& key() const { return key_; }  // what examples call it

  // pre: examples come in order.
  void add(const Found& found, std::size_t example) {
    const std::int64_t before = count();
    if (found.kind == 0) {
      add_missing(example);
    } else {
      PLIMSOLL_CHECK(found.kind == kind_, InvalidArgumentError,
                     "Name: <unknown>, Feature: {} (data type: {}) is of another type in example "
                     "{}: Data types don't match. Expected type: {}, received: {}",
                     name_, kKinds[kind_], example, kKinds[kind_], kKinds[found.kind]);
      PLIMSOLL_CHECK(read(found.list), InvalidArgumentError, "Feature: {} of example {} is damaged",
                     name_, example);
    }
    lengths_.push_back(count() - before);
    if (form_ == Form::kFixed) {
      PLIMSOLL_CHECK(
          lengths_.back() == width_, InvalidArgumentError,
          "Name: <unknown>, Key: {}, Index: {}.  Number of {} values != expected.  values "
          "size: {} but output shape: {}",
          name_, example, kKinds[kind_], lengths_.back(), Shape(shape_).to_string());
    } else {
      PLIMSOLL_CHECK(width_ > 0 && lengths_.back() % width_ == 0, InvalidArgumentError,
                     "Name: <unknown>, Key: {}, Index: {}.  Number of {} values is not a multiple "
                     "of stride length. Saw {} values but output shape is: {}",
                     name_, example, kKinds[kind_], lengths_.back(), Shape(shape_).to_string());
    }
  }

  Nest<Tensor> finish(bool is_batch) {
    if (form_ == Form::kVarLen) return sparse_parts(is_batch);
    if (form_ == Form::kRagged) {
      if (!is_batch) return values_of({count()});
      return Nest<Tensor>::dict({{"values", values_of({count()})}, {"row_splits", row_splits()}});
    }
    std::vector<std::int64_t> dims;
    if (is_batch) dims.push_back(static_cast<std::int64_t>(lengths_.size()));
    if (form_ == Form::kSequence) {
      dims.push_back(width_ ? longest() / width_ : 0);
      if (lengths_.size() > 1) fill_up(longest());
    }
    dims.insert(dims.end(), shape_.begin(), shape_.end());
    return values_of(Shape(std::span<const std::int64_t>(dims)));
  }

 private:
  enum class Form { kFixed, kSequence, kVarLen, kRagged };

  void read_spec(const FixedLenFeature& feature) {
    shape_ = feature.shape;
    dtype_ = feature.dtype;
    default_ = feature.default_value;
  }
  void read_spec(const FixedLenSequenceFeature& feature) {
    shape_ = feature.shape;
    dtype_ = feature.dtype;
    default_ = feature.default_value;
    form_ = Form::kSequence;
    may_miss_ = feature.allow_missing;
  }
  void read_spec(const VarLenFeature& feature) {
    dtype_ = feature.dtype;
    form_ = Form::kVarLen;
    may_miss_ = true;
  }
  void read_spec(const RaggedFeature& feature) {
    PLIMSOLL_CHECK(feature.row_splits_dtype == int32 || feature.row_splits_dtype == int64,
                   InvalidArgumentError,
                   "Feature: {}: row_splits_dtype must be int32 or int64, received {}", name_,
                   dtype_name(feature.row_splits_dtype));
    dtype_ = feature.dtype;
    splits_dtype_ = feature.row_splits_dtype;
    if (!feature.value_key.empty()) key_ = feature.value_key;
    form_ = Form::kRagged;
    may_miss_ = true;
  }

  std::int64_t longest() const {
    return lengths_.empty() ? 0 : *std::ranges::max_element(lengths_);
  }
  Tensor values_of(const Shape& shape) const {
    if (kind_ == 1) return constant(std::span<const std::string>(texts_), shape);
    if (kind_ == 2) return interop::copy_from_host(float32, shape, floats_.data());
    return interop::copy_from_host(int64, shape, integers_.data());
  }
  Nest<Tensor> sparse_parts(bool is_batch) const {
    std::vector<std::int64_t> indices, dims{longest()};
    if (is_batch) dims.insert(dims.begin(), static_cast<std::int64_t>(lengths_.size()));
    for (std::size_t e = 0; e < lengths_.size(); ++e) {
      for (std::int64_t i = 0; i < lengths_[e]; ++i) {
        if (is_batch) indices.push_back(static_cast<std::int64_t>(e));
        indices.push_back(i);
      }
    }
    const auto rank = static_cast<std::int64_t>(dims.size());
    return Nest<Tensor>::dict(
        {{"indices", constant(std::span<const std::int64_t>(indices), {count(), rank})},
         {"values", values_of({count()})},
         {"dense_shape", constant(std::span<const std::int64_t>(dims), {rank})}});
  }
  Tensor row_splits() const {
    std::vector<std::int64_t> splits{0};
    for (const std::int64_t length : lengths_) splits.push_back(splits.back() + length);
    return data::make_integers(splits, splits_dtype_);
  }
  std::int64_t count() const {
    return static_cast<std::int64_t>(kind_ == 1   ? texts_.size()
                                     : kind_ == 2 ? floats_.size()
                                                  : integers_.size());
  }
  bool read(std::string_view list) {
    if (kind_ == 1) return each_text(list, [&](std::string_view v) { texts_.emplace_back(v); });
    if (kind_ == 2) return each_float(list, [&](float v) { floats_.push_back(v); });
    return each_integer(list, [&](std::int64_t v) { integers_.push_back(v); });
  }
  void add_missing(std::size_t example) {
    if (form_ != Form::kFixed) {
      PLIMSOLL_CHECK(may_miss_, InvalidArgumentError,
                     "Name: <unknown>, Feature: {} is missing in example {}; allow_missing=True "
                     "would take that for an empty list",
                     name_, example);
      return;
    }
    PLIMSOLL_CHECK(default_.is_valid(), InvalidArgumentError,
                   "Name: <unknown>, Feature: {} (data type: {}) is required but could not be "
                   "found.",
                   name_, kKinds[kind_]);
    add_default(width_);
  }
  // A default of one value stands for all.
  void add_default(std::int64_t num) {
    const auto add = [&]<class T>(std::vector<T>& to) {
      std::vector<T> values = default_.is_valid() ? default_.to_vector<T>() : std::vector<T>{T()};
      for (std::int64_t i = 0; i < num; ++i)
        to.push_back(values.size() == 1 ? values[0] : values.at(static_cast<std::size_t>(i)));
    };
    if (kind_ == 1) {
      add(texts_);
    } else if (kind_ == 2) {
      add(floats_);
    } else {
      add(integers_);
    }
  }
  template <class T>
  void fill_up(std::vector<T>& values, std::int64_t longest) {
    std::vector<T> old = std::exchange(values, {});
    auto from = old.begin();
    for (const std::int64_t length : lengths_) {
      values.insert(values.end(), from, from + length);
      from += length;
      add_default(longest - length);
    }
  }
  void fill_up(std::int64_t longest) {
    if (kind_ == 1) return fill_up(texts_, longest);
    if (kind_ == 2) return fill_up(floats_, longest);
    fill_up(integers_, longest);
  }

  const std::string name_;
  std::string key_;
  std::vector<std::int64_t> shape_;
  DType dtype_ = float32, splits_dtype_ = int32;
  Tensor default_;
  Form form_ = Form::kFixed;
  bool may_miss_ = false;
  std::uint32_t kind_ = 0;
  std::int64_t width_ = 1;
  std::vector<std::int64_t> lengths_;  // by example
  std::vector<std::string> texts_;
  std::vector<float> floats_;
  std::vector<std::int64_t> integers_;
};

}  // namespace

std::string serialize_example(const Features& features) {
  std::string all;
  for (const auto& [name, feature] : features) {
    std::string list, value, member;
    if (const auto* texts = std::get_if<BytesList>(&feature)) {
      for (const std::string& text : *texts) put_bytes(list, 1, text);
    } else if (const auto* floats = std::get_if<FloatList>(&feature); floats && !floats->empty()) {
      put_bytes(list, 1,
                {reinterpret_cast<const char*>(floats->data()), floats->size() * sizeof(float)});
    } else if (const auto* ints = std::get_if<Int64List>(&feature); ints && !ints->empty()) {
      std::string packed;
      for (const std::int64_t v : *ints) data::put_varint(packed, static_cast<std::uint64_t>(v));
      put_bytes(list, 1, packed);
    }
    if (feature.index() != 0) put_bytes(value, static_cast<std::uint32_t>(feature.index()), list);
    put_bytes(member, 1, name);
    put_bytes(member, 2, value);
    put_bytes(all, 1, member);
  }
  std::string example;
  put_bytes(example, 1, all);
  return example;
}

Features parse_features(std::string_view bytes) {
  Features features;
  bool is_ok = true;
  is_ok = each_feature(
              bytes,
              [&](std::string_view name, const Found& found) {
                Feature feature;
                if (found.kind == 1) {
                  auto& to = feature.emplace<BytesList>();
                  is_ok &= each_text(found.list, [&](std::string_view v) { to.emplace_back(v); });
                } else if (found.kind == 2) {
                  auto& to = feature.emplace<FloatList>();
                  is_ok &= each_float(found.list, [&](float v) { to.push_back(v); });
                } else if (found.kind == 3) {
                  auto& to = feature.emplace<Int64List>();
                  is_ok &= each_integer(found.list, [&](std::int64_t v) { to.push_back(v); });
                }
                features.emplace_back(name, std::move(feature));
              }) &&
          is_ok;
  if (!is_ok) cannot_parse(bytes);
  return features;
}

Nest<Tensor> parse_example(const Tensor& serialized, const FeatureSpecs& features) {
  PLIMSOLL_CHECK(serialized.dtype() == DType::kString && serialized.rank() <= 1,
                 InvalidArgumentError,
                 "parse_example takes a string, or a vector of strings; received {} of shape {}",
                 dtype_name(serialized.dtype()), serialized.shape().to_string());
  std::vector<Column> columns;
  for (const auto& [name, spec] : features) columns.emplace_back(name, spec);
  const std::vector<std::string> examples = serialized.to_vector<std::string>();
  std::vector<Found> found(columns.size());
  for (std::size_t e = 0; e < examples.size(); ++e) {
    found.assign(columns.size(), {});
    const bool is_ok = each_feature(examples[e], [&](std::string_view name, const Found& feature) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].key() == name) found[i] = feature;
      }
    });
    if (!is_ok) cannot_parse(examples[e]);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].add(found[i], e);
  }
  Nest<Tensor>::Dict parsed;
  for (Column& column : columns)
    parsed.emplace_back(column.name(), column.finish(serialized.rank() == 1));
  return parsed;
}

}  // namespace plimsoll::io

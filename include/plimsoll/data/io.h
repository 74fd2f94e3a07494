// Bytes in and out: files, serialized tensors and examples, text.
//
//   tf::Tensor png = tf::io::decode_png(tf::io::read_file("cat.png"));
//   std::string bytes = tf::io::serialize_tensor(png);
//   tf::Tensor same = tf::io::parse_tensor(bytes, tf::uint8);
//
// What comes from outside is checked before memory is taken for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/nest.h"
#include "plimsoll/tensor.h"

namespace plimsoll::io {

// The bytes of a file as a scalar of type string. memory: the file's size (tag io) while it is
// read. throws: NotFoundError; ResourceExhaustedError.
Tensor read_file(const std::string& path);
// Makes the folders on the way to it. throws: FailedPreconditionError, ResourceExhaustedError.
void write_file(const std::string& path, std::string_view bytes);

// As TensorFlow's TensorProto. throws: InvalidArgumentError for a symbolic tensor.
std::string serialize_tensor(const Tensor& tensor);
// throws: InvalidArgumentError for what is no such message, or has another type.
Tensor parse_tensor(std::string_view bytes, DType out_type);
Tensor parse_tensor(std::string_view bytes);  // of whatever type

// The bytes of each string as numbers, along a new last dimension. fixed_length: bytes that each is
// cut or filled up to; 0: as they are, which must be equally long.
// throws: InvalidArgumentError.
Tensor decode_raw(const Tensor& bytes, DType out_type, bool little_endian = true,
                  std::int64_t fixed_length = 0);

// Each string in the letters of base64 that file names and addresses may have, and back.
// throws: InvalidArgumentError for other letters.
Tensor encode_base64(const Tensor& input, bool pad = false);
Tensor decode_base64(const Tensor& input);

struct CsvOptions {
  char field_delim = ',';
  bool use_quote_delim = true;
  std::string na_value = {};
  std::vector<std::int64_t> select_cols = {};  // empty: all
};
// The fields of each record, one tensor a column. A default is an empty tensor where the field must
// be there. throws: InvalidArgumentError.
std::vector<Tensor> decode_csv(const Tensor& records, const std::vector<Tensor>& defaults,
                               const CsvOptions& options = {});

// A number that is the same for the same bytes everywhere: FarmHash's fingerprint.
std::uint64_t fingerprint64(std::string_view text);

// One feature of an example: bytes, floats or integers.
using BytesList = std::vector<std::string>;
using FloatList = std::vector<float>;
using Int64List = std::vector<std::int64_t>;
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;
using Features = std::vector<std::pair<std::string, Feature>>;
// As TensorFlow's Example. throws: InvalidArgumentError.
std::string serialize_example(const Features& features);
Features parse_features(std::string_view bytes);

// What parse_example looks for.
struct FixedLenFeature {
  std::vector<std::int64_t> shape;
  DType dtype = float32;
  Tensor default_value = {};  // none: the feature must be there
};
struct FixedLenSequenceFeature {  // as many as there are, filled up in a batch
  std::vector<std::int64_t> shape;
  DType dtype = float32;
  bool allow_missing = false;
  Tensor default_value = {};
};
struct VarLenFeature {  // as many as there are: {"indices", "values", "dense_shape"}
  DType dtype = float32;
};
struct RaggedFeature {  // the same in rows: {"values", "row_splits"}; of one example its values
  DType dtype = float32;
  std::string value_key = {};  // the feature that has them; "": that of the name
  DType row_splits_dtype = int32;
};
using FeatureSpec =
    std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, RaggedFeature>;
using FeatureSpecs = std::vector<std::pair<std::string, FeatureSpec>>;
// A dictionary of tensors, and of dictionaries for features of several tensors. `serialized` is a
// scalar or a vector of strings.
// throws: InvalidArgumentError that names the feature and what is wrong with it.
Nest<Tensor> parse_example(const Tensor& serialized, const FeatureSpecs& features);

}  // namespace plimsoll::io

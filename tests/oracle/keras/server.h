// A program that tests/oracle drives: one request in JSON a line, one answer a line. Tensors are
// {"dtype": "float32", "shape": [2, 3], "data": "<base64>"}.
#pragma once

#include "plimsoll/json.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::oracle {

Tensor to_tensor(const Json& json);
Json from_tensor(const Tensor& tensor);
// Lists, dictionaries and null are as in JSON; an object with "dtype" and "data" is a tensor.
keras::Nested to_nested(const Json& json);
std::vector<Tensor> to_tensors(const Json& json);    // a list; null: empty
Json from_tensors(std::span<const Tensor> tensors);  // an empty tensor is null

// Compiles by what Keras's compile takes; objects are configurations.
void compile(keras::Model& model, const Json& config);
Json from_logs(const keras::Logs& logs);

using Handler = Json (*)(const Json& request);
struct HandlerRow {
  const char* name;  // of "do"
  Handler run;
};
// By file: a new one has its line in server.cpp.
std::span<const HandlerRow> layer_handlers();
std::span<const HandlerRow> training_handlers();
std::span<const HandlerRow> model_handlers();
std::span<const HandlerRow> callback_handlers();
std::span<const HandlerRow> file_handlers();

}  // namespace plimsoll::oracle

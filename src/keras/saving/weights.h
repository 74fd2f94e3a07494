// Weights between files and variables.
#pragma once

#include <string>
#include <vector>

#include "h5/file.h"
#include "h5/writer.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/keras/variable.h"

namespace plimsoll::keras {

// The type of a dataset as tensors have it. throws: UnimplementedError for types that they lack.
DType dtype_of(const h5::Dataset& dataset);
Shape shape_of(const h5::Dataset& dataset);
WeightInfo weight_info(const h5::Object& object);

// Which datasets go into which variables. Nothing is read or allocated before read().
class WeightReader {
 public:
  explicit WeightReader(std::string file) : file_(std::move(file)) {}

  // throws: InvalidArgumentError that names both if the shapes differ.
  void add(const h5::Object& object, const VariablePtr& variable);
  // Gives variables without a value their memory, and fills all.
  // memory: what the variables need; conversions, one variable at a time.
  // throws: ResourceExhaustedError, before the first is read, with what they need together.
  void read();

 private:
  struct Row {
    h5::Dataset dataset;
    std::string path;
    VariablePtr variable;
  };
  void check_fits() const;

  std::string file_;
  std::vector<Row> rows_;
};

// As they are, straight from their memory where that is the host's.
void write_variable(h5::Writer& writer, const std::string& path, const Variable& variable);

}  // namespace plimsoll::keras

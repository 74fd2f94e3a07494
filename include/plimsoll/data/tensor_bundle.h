// Checkpoints as TensorFlow's Saver has them: named tensors in <prefix>.data-00000-of-00001, and
// where they stand in <prefix>.index.
//
//   tf::io::TensorBundleWriter writer("model.ckpt-100");
//   writer.add("dense/kernel", kernel);
//   writer.finish();                                   // now it is there, as a whole
//
//   tf::io::TensorBundleReader reader("model.ckpt-100");
//   kernel = reader.read("dense/kernel");
//
// memory: writing takes none for tensors on the CPU, and a copy of one tensor at a time for others.
// Reading takes the tensor alone: files are mapped.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plimsoll/tensor.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll::io {

class TensorBundleWriter {
 public:
  // throws: NotFoundError if the folder is not there.
  explicit TensorBundleWriter(std::string prefix);
  ~TensorBundleWriter();  // without finish() nothing stays
  TensorBundleWriter(const TensorBundleWriter&) = delete;
  TensorBundleWriter& operator=(const TensorBundleWriter&) = delete;

  // throws: InvalidArgumentError for a name that was added before; UnimplementedError for strings;
  // ResourceExhaustedError where the disk is full.
  void add(const std::string& name, const Tensor& tensor);
  // Gives the files their names. pre: once, after all tensors.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class TensorBundleReader {
 public:
  // throws: NotFoundError; DataLossError for an index that is damaged.
  explicit TensorBundleReader(std::string prefix);
  ~TensorBundleReader();
  TensorBundleReader(const TensorBundleReader&) = delete;
  TensorBundleReader& operator=(const TensorBundleReader&) = delete;

  // Everything that is in it, by name.
  std::map<std::string, TensorSpec> specs() const;
  bool has(const std::string& name) const;
  // throws: NotFoundError; DataLossError if the checksum is wrong or the file too short;
  // UnimplementedError for strings and parts of variables; ResourceExhaustedError.
  Tensor read(const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::io

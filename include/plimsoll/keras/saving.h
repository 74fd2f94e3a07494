// Model files: .keras, .h5 and .weights.h5 of every Keras since 2.0, in and out.
//
//   auto model = keras::load_model("resnet50.h5");
//   model->save("resnet50.keras");
//
//   keras::FileInfo info = keras::inspect_model("resnet50.h5");   // reads no weights
//   auto shapes = keras::load_model("resnet50.h5", {.without_weights = true});   // to be planned
//
// memory: how much the weights take is known from the file's tables before the first is read, and
// is reserved before. They are read from the file straight into their own memory. Files are written
// under another name, brought to the disk, and then take theirs: whoever is interrupted leaves the
// old file or the new one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plimsoll/json.h"
#include "plimsoll/keras/object.h"
#include "plimsoll/shape.h"

namespace plimsoll::keras {

class Model;

struct LoadOptions {
  // Optimizer, loss and metrics too, with the optimizer's state, if the file has them.
  bool compile = true;
  // Classes of one's own by name, beside those of saving::register_keras_serializable.
  std::map<std::string, saving::ObjectMaker> custom_objects = {};
  // Weights get a shape and no memory: the model can be shown and planned, and not run.
  bool without_weights = false;
};

struct SaveOptions {
  bool overwrite = true;  // else FailedPreconditionError if the file is there
  bool include_optimizer = true;
};

struct LoadWeightsOptions {
  bool by_name = false;  // .h5: layers by their names, and not by their order
  bool skip_mismatch =
      false;  // layers whose weights have other shapes, or another number, are left
};

// throws: NotFoundError; DataLossError for a damaged file; InvalidArgumentError for a configuration
// that makes no model; UnimplementedError for formats that are not read, with the way to convert
// them; ResourceExhaustedError with the bytes that the weights need. Each names file and place, and
// nothing is left behind.
std::shared_ptr<Model> load_model(const std::string& path, const LoadOptions& options = {});

// By the ending of the path: ".keras", or ".h5" / ".hdf5" in the form of older Keras.
// throws: InvalidArgumentError for another ending; UnimplementedError for a class of one's own
// without a configuration.
void save_model(const Model& model, const std::string& path, const SaveOptions& options = {});

// ".weights.h5" as Keras 3 writes it, and the weights of whole models in .h5 and .keras.
void load_weights(Model& model, const std::string& path, const LoadWeightsOptions& options = {});
void save_weights(const Model& model, const std::string& path, const SaveOptions& options = {});

struct WeightInfo {
  std::string path;  // in the file
  std::string dtype;
  Shape shape;
  std::uint64_t nbytes = 0;  // in memory
};

// What a file says of itself.
struct FileInfo {
  std::string format;         // ".keras", ".h5" or ".weights.h5"
  std::string keras_version;  // empty: not said
  std::string backend;        // "tensorflow"
  std::string saved_at;       // .keras alone
  Json config;                // of the model, as it stands there; null for weights alone
  Json training_config;       // null: not compiled
  std::vector<WeightInfo> weights;
  std::vector<WeightInfo> optimizer_weights;
  std::uint64_t weights_nbytes() const noexcept;
  std::uint64_t optimizer_nbytes() const noexcept;
};
// memory: the configuration and the tables, no weights. throws: as load_model.
FileInfo inspect_model(const std::string& path);

}  // namespace plimsoll::keras

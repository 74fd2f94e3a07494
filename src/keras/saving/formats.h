// The two ways in which weights stand in HDF5: by layer in the order of the model (.h5 files), and
// as a tree of layers and attributes (.keras, .weights.h5). And what a file says of its model.
#pragma once

#include <functional>

#include "h5/file.h"
#include "keras/saving/archive.h"
#include "keras/saving/weights.h"
#include "plimsoll/keras/model.h"
#include "plimsoll/keras/saving.h"

namespace plimsoll::keras {

enum class FileFormat { kArchive, kH5 };
// By what the file begins with, whatever its name says.
// throws: NotFoundError; UnimplementedError for formats of other programs, with the way to convert
// them; DataLossError.
FileFormat format_of(const std::string& path);
// Whether the weights are in the order of layers.
bool is_layer_order(const h5::Object& root);
h5::Object layer_order_group(const h5::Object& root);  // of a whole model or of weights alone

// Lists of strings may be in pieces: layer_names0, layer_names1, ...
std::vector<std::string> names_attribute(const h5::Object& object, const std::string& name);
void write_names(h5::Writer& writer, const std::string& path, const std::string& name,
                 const std::vector<std::string>& names);

void bind_layer_order(const h5::Object& group, const Model& model,
                      const LoadWeightsOptions& options, const std::string& file,
                      WeightReader& reader);
void bind_tree(const h5::Object& root, const Model& model, const LoadWeightsOptions& options,
               const std::string& file, WeightReader& reader);
// The datasets of an optimizer, in order.
std::vector<h5::Object> optimizer_datasets(const h5::Object& root);
// Builds the optimizer if the file has its slots. False: they are those of another optimizer.
bool bind_optimizer(const std::vector<h5::Object>& datasets, Model& model, const std::string& file,
                    WeightReader& reader);

void write_layer_order(h5::Writer& writer, const std::string& group, const Model& model);
void write_optimizer_weights(h5::Writer& writer, const Optimizer& optimizer);
void write_tree(h5::Writer& writer, const Model& model, bool with_optimizer);

// The weights of a layer in the order of .h5 files: trained ones first.
std::vector<VariablePtr> layer_order_weights(const Layer& layer);

// Whose oldest version reads what is written here.
inline constexpr const char* kWrittenVersion = "3.6.0";

}  // namespace plimsoll::keras

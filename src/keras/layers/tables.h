// The layers that are known by name, by family. A new family has its row here and in tables.cpp.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

std::span<const ClassRow> core_layers();
std::span<const ClassRow> activation_layers();
std::span<const ClassRow> regularization_layers();
std::span<const ClassRow> reshaping_layers();
std::span<const ClassRow> convolutional_layers();
std::span<const ClassRow> pooling_layers();
std::span<const ClassRow> normalization_layers();
std::span<const ClassRow> merging_layers();
std::span<const ClassRow> rnn_layers();
std::span<const ClassRow> model_layers();
std::span<const ClassRow> attention_layers();
std::span<const ClassRow> preprocessing_layers();
std::span<const ClassRow> lookup_layers();
std::span<const ClassRow> image_preprocessing_layers();
std::span<const ClassRow> application_layers();

// All of them.
std::span<const ClassRow> layer_rows();

}  // namespace plimsoll::keras

#include "keras/layers/tables.h"

namespace plimsoll::keras {

std::span<const ClassRow> layer_rows() {
  static const std::vector<ClassRow> all = [] {
    std::vector<ClassRow> rows;
    for (const auto family :
         {core_layers(), model_layers(), activation_layers(), regularization_layers(),
          reshaping_layers(), convolutional_layers(), pooling_layers(), normalization_layers(),
          merging_layers(), rnn_layers(), attention_layers(), preprocessing_layers(),
          lookup_layers(), image_preprocessing_layers(), application_layers()})
      rows.insert(rows.end(), family.begin(), family.end());
    return rows;
  }();
  return all;
}

}  // namespace plimsoll::keras

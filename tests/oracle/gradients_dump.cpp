// Writes the gradients of a model's first training step, for gradients_test.py:
//   gradients_dump FILE MODEL BATCH      float32 values to FILE; a line "name count" for each
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "models/layers.h"
#include "models/models.h"

int main(int argc, char** argv) {
  using namespace plimsoll;
  if (argc != 4) {
    std::fprintf(stderr, "usage: gradients_dump FILE MODEL BATCH\n");
    return 2;
  }
  const bench::Model model =
      bench::make_model(argv[2], std::atoi(argv[3]), {.learning_rate = 1, .dropout = false});
  model.step(model.inputs);
  std::ofstream file(argv[1], std::ios::binary);
  // Momentum, which began at zero: the gradient, with its sign turned.
  const std::size_t num = model.optimizer->trainable_variables().size();
  const std::vector<keras::VariablePtr> variables = model.optimizer->variables();
  for (std::size_t i = 0; i < num; ++i) {
    std::vector<float> values = variables[variables.size() - num + i]->value().to_vector<float>();
    for (float& v : values) v = -v;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    const std::string name = bench::peer_name(*model.optimizer->trainable_variables()[i]);
    std::printf("%s %zu\n", name.c_str(), values.size());
  }
  return file.good() ? 0 : 1;
}

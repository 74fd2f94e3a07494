// Writes the gradients of a model's first training step, for gradients_test.py:
//   gradients_dump FILE MODEL BATCH      float32 values to FILE; a line "name count" for each
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "models/models.h"

int main(int argc, char** argv) {
  using namespace plimsoll;
  if (argc != 4) {
    std::fprintf(stderr, "usage: gradients_dump FILE MODEL BATCH\n");
    return 2;
  }
  const bench::Model model =
      bench::make_model(argv[2], std::atoi(argv[3]), {.optimizer = "sgd", .dropout = false});
  model.step(model.inputs);
  std::ofstream file(argv[1], std::ios::binary);
  for (const Variable& v : model.weights->variables) {
    if (!v.name().ends_with("/m")) continue;  // momentum, which began at zero: the gradient
    const std::vector<float> values = v.value().to_vector<float>();
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    std::printf("%s %zu\n", v.name().substr(0, v.name().size() - 2).c_str(), values.size());
  }
  return file.good() ? 0 : 1;
}

// save_for_ever FILE: saves a model, each time with other values, until somebody kills it, which is
// what SavingTest does.
#include <cstdio>

#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

using namespace plimsoll;
using namespace plimsoll::keras;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "save_for_ever FILE\n");
    return 2;
  }
  const auto model = Sequential({Input({64}), layers::Dense({.units = 512}, {.name = "d"})});
  for (int i = 0;; ++i) {
    const std::vector<Tensor> values{fill({64, 512}, static_cast<float>(i)),
                                     fill({512}, static_cast<float>(i))};
    model->set_weights(values);
    model->save(argv[1]);
  }
}

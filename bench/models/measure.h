// The models in rounds that take turns: here, in TensorFlow and in PyTorch; each in its own
// process.
#pragma once

#include <string>

namespace plimsoll::bench {

struct MeasureArguments {
  std::string program;  // bench_models itself
  std::string python;   // with TensorFlow and PyTorch; empty: no peers
  std::string models;   // "mlp,resnet50"; empty: all
  std::string optimizer = "sgd";
  std::string dtype = "float32";  // a policy of mixed precision: against float32, without peers
  int rounds = 5;
  int steps = 0;    // in a round; 0: about two seconds of them
  int threads = 0;  // 0: one per core

  bool is_mixed() const { return dtype != "float32"; }
};

// Prints the rows.
void measure_models(const MeasureArguments& arguments);

}  // namespace plimsoll::bench

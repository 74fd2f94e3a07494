// One model in a process of its own, by which the benchmark measures Plimsoll as it does its peers.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll::bench {

struct RunArguments {
  std::string model;
  int batch = 0;  // 0: the model's first
  std::string optimizer = "sgd";
  bool dropout = true;
  std::string dtype = "float32";  // or a policy of mixed precision
  int threads = 0;                // 0: one per core
  int steps = 3;
  bool plan = false;  // print the memory plan
};

// Answers the requests of bench/peer_process.h, two numbers each:
//   import 0   seconds from the start of the process, bytes resident now
//   model 0    makes the model: seconds, 0
//   step n     seconds for n steps, the last one's loss
//   cpu 0      seconds of CPU time so far, of all threads, 0
//   memory 0   the most bytes that were ever resident, bytes resident now
void serve(const RunArguments& arguments);

// Runs the model here and prints each step's time and loss.
void run_alone(const RunArguments& arguments);

}  // namespace plimsoll::bench

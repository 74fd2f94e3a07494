// Training steps of whole models, against TensorFlow and PyTorch in rounds that take turns.
//
//   bench_models [--python PYTHON] [--models A,B] [--rounds N] [--steps N]
//   bench_models --model NAME [--batch N] [--steps N] [--plan]      this one, here, without peers
//
// scripts/bench models sets the peers up. A peer that is not there leaves rows without a bar.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "models/measure.h"
#include "models/serve.h"
#include "plimsoll/error.h"

namespace plimsoll::bench {
namespace {

constexpr const char* kUsage =
    "bench_models [--python PYTHON] [--models A,B] [--rounds N] [--steps N]\n"
    "bench_models --model NAME [--batch N] [--steps N] [--plan] [--no-dropout]\n"
    "both: [--optimizer sgd|adam] [--threads N] [--dtype mixed_bfloat16|mixed_float16]\n"
    "      the first with --dtype: against float32, without peers\n";

int run(int argc, char** argv) {
  RunArguments one;
  MeasureArguments all{.program = argv[0]};
  bool is_serving = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "%s needs a value\n%s", name.c_str(), kUsage);
      std::exit(2);
    };
    if (name == "--serve") {
      is_serving = true;
    } else if (name == "--plan") {
      one.plan = true;
    } else if (name == "--no-dropout") {
      one.dropout = false;
    } else if (name == "--model") {
      one.model = value();
    } else if (name == "--batch") {
      one.batch = std::atoi(value());
    } else if (name == "--steps") {
      one.steps = all.steps = std::atoi(value());
    } else if (name == "--optimizer") {
      one.optimizer = all.optimizer = value();
    } else if (name == "--dtype") {
      one.dtype = all.dtype = value();
    } else if (name == "--threads") {
      one.threads = all.threads = std::atoi(value());
    } else if (name == "--models") {
      all.models = value();
    } else if (name == "--rounds") {
      all.rounds = std::atoi(value());
    } else if (name == "--python") {
      all.python = value();
    } else {
      std::fputs(kUsage, name == "--help" ? stdout : stderr);
      return name == "--help" ? 0 : 2;
    }
  }
  if (is_serving) {
    serve(one);
  } else if (!one.model.empty()) {
    run_alone(one);
  } else {
    measure_models(all);
  }
  return 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  try {
    return plimsoll::bench::run(argc, argv);
  } catch (const plimsoll::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

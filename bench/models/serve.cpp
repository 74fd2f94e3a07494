#include "models/serve.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>

#include "models/models.h"
#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/memory_api.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

// A line of /proc/self/status, in bytes.
double status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == name && file >> kib) return kib * 1024;
  }
  return 0;
}

// Since the kernel started this process.
double process_seconds() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  text.erase(0, text.rfind(')') + 2);  // the name may hold anything
  long long ticks = 0;
  std::size_t at = 0;
  for (int field = 3; field < 22; ++field) at = text.find(' ', at) + 1;
  std::sscanf(text.c_str() + at, "%lld", &ticks);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void start_runtime(int threads) {
  config::threading::set_intra_op_parallelism_threads(threads);
  config::list_logical_devices();
}

Model make(const RunArguments& a) {
  int batch = a.batch;
  for (const ModelInfo& info : all_models()) {
    if (batch == 0 && info.name == a.model) batch = info.batches[0];
  }
  return make_model(a.model, std::max(1, batch),
                    {.optimizer = a.optimizer, .dropout = a.dropout, .dtype = a.dtype});
}

void answer(double first, double second) {
  std::printf("%.9g %.9g\n", first, second);
  std::fflush(stdout);
}

}  // namespace

void serve(const RunArguments& arguments) {
  start_runtime(arguments.threads);
  const double import_seconds = process_seconds(), import_bytes = status_bytes("VmRSS:");
  std::puts("ready");
  std::fflush(stdout);
  std::optional<Model> model;
  std::vector<Tensor> loss(1);
  std::string request;
  int num = 0;
  while (std::cin >> request >> num) {
    const double start = now_seconds();
    if (request == "import") {
      answer(import_seconds, import_bytes);
    } else if (request == "model") {
      model.emplace(make(arguments));
      answer(now_seconds() - start, 0);
    } else if (request == "step" && model) {
      for (int i = 0; i < num; ++i) model->step.run(model->inputs, loss);
      answer(now_seconds() - start, loss[0].item<float>());
    } else if (request == "cpu") {
      answer(cpu_seconds(), 0);
    } else if (request == "memory") {
      answer(status_bytes("VmHWM:"), status_bytes("VmRSS:"));
    } else {
      std::puts("unknown");
      std::fflush(stdout);
    }
  }
}

void run_alone(const RunArguments& arguments) {
  start_runtime(arguments.threads);
  const double before = status_bytes("VmRSS:");
  const Model model = make(arguments);
  if (arguments.plan) std::printf("%s\n", model.step.plan(model.input_specs).to_string().c_str());
  for (int i = 0; i < arguments.steps; ++i) {
    const double start = now_seconds();
    const float loss = model.step(std::span<const Tensor>(model.inputs))[0].item<float>();
    std::printf("step %d: %.2f ms, loss %.6f\n", i + 1, (now_seconds() - start) * 1e3,
                static_cast<double>(loss));
    std::fflush(stdout);
  }
  const double peak = status_bytes("VmHWM:") - before;
  std::printf("resident at most %s more than at the start\n",
              format_bytes(static_cast<std::uint64_t>(std::max(0.0, peak))).c_str());
}

}  // namespace plimsoll::bench

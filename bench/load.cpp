// From the start of a process to its first prediction: ResNet-50 out of a file, one image.
//
//   bench_load [--python PYTHON] [--folder FOLDER] [--rounds N]
//   bench_load --once FILE              loads and predicts, in this process
//
// Ours and TensorFlow's read the same .h5 file; PyTorch reads its own format. A round starts each
// of them once. scripts/bench load sets the peers up; one that is not there leaves rows without a
// bar.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/ops.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

constexpr const char* kUsage =
    "bench_load [--python PYTHON] [--folder FOLDER] [--rounds N]\nbench_load --once FILE\n";
constexpr double kMiB = 1 << 20;

struct Arguments {
  std::string program, python, folder = "build/bench/load", once;
  int rounds = 5;
};

// As load/peer.py makes it.
Tensor make_image() {
  std::vector<float> values(224 * 224 * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 256);
  return constant(std::span<const float>(values), {1, 224, 224, 3});
}

double peak_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && file >> kib) return kib * 1024;
  }
  return 0;
}

int run_once(const std::string& file) {
  const keras::ModelPtr model = keras::load_model(file, {.compile = false});
  const Tensor y = model->predict_on_batch(make_image());
  double checksum = 0;
  const std::vector<float> values = y.to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    checksum += static_cast<double>(values[i]) * static_cast<double>(i + 1);
  std::printf("result %.9g %.0f\n", checksum, peak_bytes());
  std::fflush(stdout);
  std::_Exit(0);
}

struct Run {
  double seconds = 0, checksum = 0, peak = 0;
};

// Starts the command and waits for its result.
std::optional<Run> measure(const std::string& command) {
  const double start = now_seconds();
  std::FILE* pipe = popen(("exec " + command).c_str(), "r");
  if (!pipe) return std::nullopt;
  std::optional<Run> run;
  char line[512];
  while (!run && std::fgets(line, sizeof(line), pipe)) {
    Run read;
    if (std::sscanf(line, "result %lf %lf", &read.checksum, &read.peak) != 2) continue;
    read.seconds = now_seconds() - start;
    run = read;
  }
  pclose(pipe);
  return run;
}

struct Side {
  std::string name, command;
  std::vector<Run> runs = {};

  double median(double Run::*member) const {
    std::vector<double> values;
    for (const Run& run : runs) values.push_back(run.*member);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

void print_rows(const Side& ours, const Side& peer, double time_bar, double memory_bar) {
  const auto row = [&](const std::string& what, double a, double b, const char* unit, double bar) {
    print({.what = what,
           .ours = a,
           .peer = b,
           .ratio = a / b,
           .unit = unit,
           .bar = fmt::format("<= {:.2f}", bar),
           .holds = a / b <= bar,
           .note = fmt::format("{}, medians of {} processes", peer.name, ours.runs.size())});
  };
  row("start to first prediction, against " + peer.name, ours.median(&Run::seconds) * 1e3,
      peer.median(&Run::seconds) * 1e3, "ms", time_bar);
  row("most memory that was resident, against " + peer.name, ours.median(&Run::peak) / kMiB,
      peer.median(&Run::peak) / kMiB, "MiB", memory_bar);
}

void print_difference(const Side& ours, const Side& peer) {
  const double a = ours.runs[0].checksum, b = peer.runs[0].checksum;
  print({.what = "difference of predictions from TensorFlow's",
         .ours = std::abs(a - b) / std::abs(b),
         .ratio = std::abs(a - b) / std::abs(b),
         .bar = "<= 1e-4",
         .holds = std::abs(a - b) <= 1e-4 * std::abs(b),
         .note = fmt::format("sum of class numbers, weighted: {:.6f} and {:.6f}", a, b)});
}

int measure_all(const Arguments& a) {
  const std::string peer = "'" + a.python + "' '" PLIMSOLL_BENCH_FOLDER "/load/peer.py' ";
  if (!a.python.empty()) {
    progress("making the files, if they are not there");
    if (std::system((peer + "make '" + a.folder + "'").c_str()) != 0)
      progress("not all files could be made");
  }
  const std::string h5 = a.folder + "/resnet50.h5", pt = a.folder + "/resnet50.pt";
  if (!std::filesystem::exists(h5))
    throw NotFoundError(fmt::format("'{}' is not there: scripts/bench load makes it", h5));
  std::vector<Side> sides{{"Plimsoll", "'" + a.program + "' --once '" + h5 + "'"}};
  if (!a.python.empty()) {
    sides.push_back({"TensorFlow", peer + "tensorflow '" + h5 + "'"});
    sides.push_back({"PyTorch", peer + "torch '" + pt + "'"});
  }
  for (int round = 0; round <= a.rounds;
       ++round) {  // the first brings everything into the page cache
    for (Side& side : sides) {
      const auto run = measure(side.command);
      if (!run) progress(fmt::format("{} gave no result", side.name));
      if (!run || round == 0) continue;
      progress(fmt::format("round {}: {} {:.0f} ms, {:.0f} MiB", round, side.name,
                           run->seconds * 1e3, run->peak / kMiB));
      side.runs.push_back(*run);
    }
  }
  if (sides[0].runs.empty()) throw InternalError("bench_load --once gave no result");
  if (sides.size() == 1) {
    print({.what = "start to first prediction",
           .ours = sides[0].median(&Run::seconds) * 1e3,
           .unit = "ms"});
    print({.what = "most memory that was resident",
           .ours = sides[0].median(&Run::peak) / kMiB,
           .unit = "MiB"});
    return 0;
  }
  if (!sides[1].runs.empty()) {
    print_rows(sides[0], sides[1], 0.20, 0.25);
    print_difference(sides[0], sides[1]);
  }
  if (!sides[2].runs.empty()) print_rows(sides[0], sides[2], 0.5, 0.5);
  return 0;
}

int run(int argc, char** argv) {
  Arguments a{.program = argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "%s needs a value\n%s", name.c_str(), kUsage);
      std::exit(2);
    };
    if (name == "--once") {
      a.once = value();
    } else if (name == "--python") {
      a.python = value();
    } else if (name == "--folder") {
      a.folder = value();
    } else if (name == "--rounds") {
      a.rounds = std::max(1, std::atoi(value()));
    } else {
      std::fputs(kUsage, name == "--help" ? stdout : stderr);
      return name == "--help" ? 0 : 2;
    }
  }
  return a.once.empty() ? measure_all(a) : run_once(a.once);
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

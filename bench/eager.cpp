// Eager calls: the overhead of small ops and the speed of large ones, against libtorch in C++ and
// TensorFlow from Python, in rounds that take turns.
//
//   bench_eager [--torch PROGRAM] [--python PYTHON] [--only TEXT] [--rounds N] [--models]
//               [--case NAME]...
//
// --torch is bin/eager_torch (built where PyTorch's headers are), --python a Python with TensorFlow
// and PyTorch; scripts/bench eager sets both up. A peer that is not there leaves its rows without a
// bar. --models measures ops at the sizes of models instead, for information,
// --case one of these with any sizes, such as conv_input:8,28,128,128,3,1.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eager_cases.h"
#include "peer_process.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

struct Arguments {
  std::string torch, python, only;
  int rounds = 25;
  bool is_models = false;
  std::vector<EagerCase> cases = {};  // chosen by name
};

// The fastest round: what else runs on the machine only adds to a time.
double fastest_of(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

Timing run_here(const EagerCase& c, int iterations) {
  Timing timing;
  c.run();  // warm: peers do the same
  const double start = now_seconds();
  for (int i = 0; i + 1 < iterations; ++i) c.run();
  Tensor out = c.run();
  timing.seconds = now_seconds() - start;
  timing.checksum = checksum(out);
  return timing;
}

struct Peer {
  std::string name;
  std::unique_ptr<PeerProcess> process;
  std::vector<double> seconds = {};  // per iteration, of the case at hand
  double checksum = 0;
};

// Iterations that take about a fiftieth of a second here: short enough to fall between what else
// the machine does.
int choose_iterations(const EagerCase& c) {
  int iterations = 1;
  while (iterations < 1000000) {
    const double seconds = run_here(c, iterations).seconds;
    if (seconds > 0.01) break;
    iterations = seconds < 0.001 ? iterations * 8 : iterations * 2;
  }
  return iterations;
}

std::string unit_of(double seconds) {
  return seconds < 1e-4 ? "ns" : seconds < 1e-2 ? "us" : "ms";
}
double scale_of(const std::string& unit) {
  return unit == "ns" ? 1e9 : unit == "us" ? 1e6 : 1e3;
}

void measure(const EagerCase& c, std::vector<Peer>& peers, int rounds) {
  progress(c.name);
  const int iterations = choose_iterations(c);
  std::vector<double> ours;
  double sum = 0;
  for (Peer& peer : peers) {
    peer.seconds.clear();
    peer.process->run(c.name, 2);  // warm
  }
  for (int round = 0; round < rounds; ++round) {
    const Timing here = run_here(c, iterations);
    ours.push_back(here.seconds / iterations);
    sum = here.checksum;
    for (Peer& peer : peers) {
      const int times = c.is_small ? std::max(1, iterations / 8) : iterations;  // Python is slower
      const auto timing = peer.process->run(c.name, times);
      if (!timing) continue;
      peer.seconds.push_back(timing->seconds / times);
      peer.checksum = timing->checksum;
    }
  }
  const double mine = fastest_of(ours);
  const std::string unit = unit_of(mine);
  double fastest = 0;
  std::string who;
  for (const Peer& peer : peers) {
    if (peer.seconds.empty()) continue;
    const double theirs = fastest_of(peer.seconds);
    const bool agrees = c.is_random || std::abs(peer.checksum - sum) <= 1e-3 * std::abs(sum);
    // Small ops are held against libtorch: Python's own cost is no measure for C++.
    const bool counts = !c.is_small || peer.name == "libtorch";
    if (counts && (fastest == 0 || theirs < fastest)) {
      fastest = theirs;
      who = peer.name;
    }
    if (c.has_bar || !agrees)
      print({.what = c.name + " against " + peer.name,
             .ours = mine * scale_of(unit),
             .peer = theirs * scale_of(unit),
             .unit = unit,
             .note = agrees ? "" : "RESULTS DIFFER"});
    if (!agrees)
      print({.what = c.name + ": same result as " + peer.name, .bar = "equal", .holds = false});
  }
  Row row{.what = c.what, .ours = mine * scale_of(unit), .unit = unit};
  if (c.has_bar) row.bar = c.is_small ? "<= 1.00" : "<= 1.05";
  if (fastest > 0) {
    row.peer = fastest * scale_of(unit);
    if (c.has_bar) row.holds = mine / fastest <= (c.is_small ? 1.0 : 1.05);
    row.note = "the bar's peer: " + who;
  } else {
    row.note = "no peer to compare with";
  }
  if (!c.note.empty()) row.note += "; " + c.note;
  print(row);
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name) -> const char* {
      return std::strcmp(argv[i], name) == 0 && i + 1 < argc ? argv[++i] : nullptr;
    };
    if (const char* v = value("--torch")) {
      a.torch = v;
    } else if (const char* v2 = value("--python")) {
      a.python = v2;
    } else if (const char* v3 = value("--only")) {
      a.only = v3;
    } else if (const char* v4 = value("--rounds")) {
      a.rounds = std::max(1, std::atoi(v4));
    } else if (const char* v5 = value("--case")) {
      a.cases.push_back(model_case(v5));
    } else if (std::strcmp(argv[i], "--models") == 0) {
      a.is_models = true;
    } else {
      std::fprintf(stderr,
                   "bench_eager [--torch PROGRAM] [--python PYTHON] [--only TEXT] [--rounds N] "
                   "[--models] [--case NAME]...\n");
      std::exit(std::strcmp(argv[i], "--help") == 0 ? 0 : 2);
    }
  }
  return a;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  using namespace plimsoll::bench;
  Arguments arguments;
  try {
    arguments = parse(argc, argv);
  } catch (const plimsoll::Error& e) {
    std::fprintf(stderr, "bench_eager: %s\n", e.what());
    return 2;
  }
  std::vector<Peer> peers;
  const auto add = [&](const std::string& name, const std::vector<std::string>& command) {
    Peer peer{.name = name, .process = std::make_unique<PeerProcess>(command)};
    if (peer.process->is_running()) {
      peers.push_back(std::move(peer));
    } else {
      progress("no " + name + ": " + peer.process->why());
    }
  };
  if (!arguments.torch.empty()) add("libtorch", {arguments.torch});
  if (!arguments.python.empty()) {
    add("TensorFlow (Python)",
        {arguments.python, PLIMSOLL_BENCH_FOLDER "/eager_peers.py", "tensorflow"});
    add("PyTorch (Python)", {arguments.python, PLIMSOLL_BENCH_FOLDER "/eager_peers.py", "torch"});
  }
  // One case at a time: its inputs go with it.
  auto cases = std::move(arguments.cases);
  if (cases.empty()) cases = arguments.is_models ? model_cases() : eager_cases();
  for (EagerCase& c : cases) {
    if (c.name.find(arguments.only) != std::string::npos) measure(c, peers, arguments.rounds);
    c.run = nullptr;
  }
}

// Planner benchmark: public hard problems against MiniMalloc, and large training steps.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plimsoll/error.h"
#include "plimsoll/planner.h"
#include "rows.h"
#include "training_lifetimes.h"

namespace plimsoll::bench {
namespace {

constexpr int64_t kCapacity = 1048576;  // of all the public problems

struct Arguments {
  std::string minimalloc;                      // program; empty: no peer
  std::string problems = PLIMSOLL_BENCH_DATA;  // folder of CSV files
  int repeats = 3;
  bool large = true;
};

constexpr const char* kHelp =
    "bench_planner [--minimalloc PROGRAM] [--problems FOLDER] [--repeats N] [--quick]\n"
    "  --minimalloc  run this MiniMalloc program on the same problems, interleaved\n"
    "  --problems    folder of CSV problems with capacity 1048576\n"
    "  --repeats     runs of our solver per problem, of which the median counts (3)\n"
    "  --quick       leave out 100,000 buffers and the ablations; one run per problem\n";

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (++i < argc) return argv[i];
      throw InvalidArgumentError(fmt::format("{} needs a value", name));
    };
    if (name == "--minimalloc") {
      arguments.minimalloc = value();
    } else if (name == "--problems") {
      arguments.problems = value();
    } else if (name == "--repeats") {
      arguments.repeats = std::max(1, std::atoi(value().c_str()));
    } else if (name == "--quick") {
      arguments.large = false;
      arguments.repeats = 1;
    } else if (name == "--help") {
      fmt::print("{}", kHelp);
      std::exit(0);
    } else {
      throw InvalidArgumentError(fmt::format("unknown argument '{}'\n{}", name, kHelp));
    }
  }
  return arguments;
}

void require_valid(const planner::Problem& problem, const planner::Solution& solution) {
  const std::string wrong = planner::validate(problem, solution);
  if (!wrong.empty()) throw InternalError("the planner's solution is wrong: " + wrong);
}

struct Timed {
  planner::Result result;
  double cpu_ms = 0;
};

// The median of `repeats` runs; every result is validated outside the clock.
Timed timed_solve(const planner::Problem& problem, const planner::Options& options, int repeats) {
  Timed timed;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const double start = cpu_seconds();
    timed.result = planner::solve(problem, options);
    times.push_back((cpu_seconds() - start) * 1e3);
    if (timed.result.fits()) require_valid(problem, timed.result.solution);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  timed.cpu_ms = times[times.size() / 2];
  return timed;
}

// User CPU time of one run of the peer; none if it failed.
std::optional<double> peer_cpu_ms(const std::string& program, const std::string& input) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string capacity = fmt::format("--capacity={}", kCapacity);
    const std::string in = "--input=" + input;
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(126);
    execl(program.c_str(), program.c_str(), capacity.c_str(), in.c_str(), "--output=/dev/null",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) < 0) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  const timeval& user = usage.ru_utime;
  return static_cast<double>(user.tv_sec) * 1e3 + static_cast<double>(user.tv_usec) / 1e3;
}

std::vector<std::filesystem::path> list_problems(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

planner::Problem load(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  planner::Problem problem = planner::read_csv(text.str());
  problem.capacity = kCapacity;
  return problem;
}

planner::Options fit_options() {
  planner::Options options;
  options.stop_at = kCapacity;
  options.seconds = 120;
  return options;
}

void hard_problems(const Arguments& arguments) {
  const std::string peer_note = arguments.minimalloc.empty()
                                    ? "no peer: --minimalloc not given; CPU time"
                                    : "peer: MiniMalloc, same run, CPU time";
  double ours = 0;
  double peer = 0;
  bool all_fit = true;
  bool all_peer = !arguments.minimalloc.empty();
  const auto paths = list_problems(arguments.problems);
  for (const auto& path : paths) {
    const planner::Problem problem = load(path);
    Row row{.what = fmt::format("hard problem {}, {} buffers", path.stem().stem().string(),
                                problem.buffers.size()),
            .unit = "ms"};
    if (all_peer) row.peer = peer_cpu_ms(arguments.minimalloc, path.string());
    const Timed timed = timed_solve(problem, fit_options(), arguments.repeats);
    row.ours = timed.cpu_ms;
    row.note = fmt::format("{}; {} nodes, {}", peer_note, timed.result.nodes,
                           planner::status_name(timed.result.status));
    ours += row.ours;
    all_fit &= timed.result.fits();
    all_peer &= row.peer.has_value();
    peer += row.peer.value_or(0);
    print(row);
  }
  Row total{.what = fmt::format("{} hard problems, one core", paths.size()),
            .ours = ours,
            .unit = "ms",
            .bar = "all fit, <= 1.0 of MiniMalloc (aim 0.5)",
            .note = peer_note};
  if (all_peer) {
    total.peer = peer;
    total.holds = all_fit && ours <= peer;
  } else if (!all_fit) {
    total.holds = false;
  }
  print(total);
}

void training_step(int num_buffers, double limit_seconds) {
  const planner::Problem problem = make_training_problem(num_buffers);
  planner::Options options;
  options.seconds = limit_seconds;
  const double start = now_seconds();
  const planner::Result result = planner::solve(problem, options);
  const double seconds = now_seconds() - start;
  require_valid(problem, result.solution);
  const double ratio =
      static_cast<double>(result.solution.height) / static_cast<double>(result.lower_bound);
  print({.what = fmt::format("training step, {} buffers: height / lower bound", num_buffers),
         .ours = seconds * 1e3,
         .ratio = ratio,
         .unit = "ms",
         .bar = fmt::format("<= 1.01 in < {:g} s", limit_seconds),
         .holds = ratio <= 1.01 && seconds < limit_seconds,
         .note = fmt::format("{}, {}", result.method, planner::status_name(result.status))});
}

// What a technique is worth: the hard problems without it, each for at most as many nodes.
void ablation(const Arguments& arguments, const char* name, bool planner::Techniques::*technique) {
  constexpr int64_t kNodes = 100'000;
  int64_t nodes = 0;
  int fit = 0;
  const double start = cpu_seconds();
  const auto paths = list_problems(arguments.problems);
  for (const auto& path : paths) {
    planner::Options options = fit_options();
    options.nodes = kNodes;
    options.seconds = 20;
    if (technique != nullptr) options.techniques.*technique = false;
    const planner::Result result = planner::solve(load(path), options);
    nodes += result.nodes;
    fit += result.fits() ? 1 : 0;
  }
  print({.what = fmt::format("hard problems, {}", name),
         .ours = (cpu_seconds() - start) * 1e3,
         .unit = "ms",
         .note = fmt::format("{} of {} fit, {} nodes (at most {} each)", fit, paths.size(), nodes,
                             kNodes)});
}

void run(const Arguments& arguments) {
  hard_problems(arguments);
  training_step(1000, 1);
  training_step(10'000, 1);
  if (!arguments.large) return;
  training_step(100'000, 20);
  ablation(arguments, "all techniques", nullptr);
  ablation(arguments, "without no-goods", &planner::Techniques::no_goods);
  ablation(arguments, "without decomposing", &planner::Techniques::decompose);
  ablation(arguments, "without other orders", &planner::Techniques::portfolio);
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  try {
    plimsoll::bench::run(plimsoll::bench::parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_planner: {}\n", error.what());
    return 1;
  }
  return 0;
}

// The commands of `plimsoll`. Each returns an exit code; errors are thrown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll::cli {

inline constexpr int kFits = 0;        // and: done
inline constexpr int kError = 1;       // what was asked for could not be done
inline constexpr int kUsage = 2;       // the command line cannot be read
inline constexpr int kDoesNotFit = 3;  // of plan, and of run under a budget

struct InfoArguments {
  std::string file;
  std::int64_t batch = 1;
  bool show_nested = false;
  bool as_json = false;
};
int show_info(const InfoArguments& arguments);

struct PlanArguments {
  std::string file;
  std::int64_t batch = 1;
  std::string budget;                    // "2GiB"; empty: the device's limit
  std::string device;                    // a profile, or "CPU:0"; empty: where it would run
  std::string optimizer;                 // of training; empty: inference
  bool infer = false;                    // says so
  std::string loss;                      // empty: the file's, or one that goes with the outputs
  std::vector<std::string> input_shape;  // "224,224,3" for each input with open dimensions
  bool as_json = false;
};
int show_plan(const PlanArguments& arguments);

struct RunArguments {
  std::string file;
  std::vector<std::string> inputs;  // paths, or name=path
  std::string output;               // empty: printed
  std::int64_t batch = 32;
  std::string budget;
  int top = 5;  // values printed of a row
};
int run_model(const RunArguments& arguments);

struct DevicesArguments {
  bool as_json = false;
};
int show_devices(const DevicesArguments& arguments);

}  // namespace plimsoll::cli

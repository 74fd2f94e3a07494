#include "rows.h"

#include <time.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace plimsoll::bench {
namespace {

double clock_seconds(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

void print(const Row& row) {
  std::optional<double> ratio = row.ratio;
  if (!ratio && row.peer && *row.peer != 0) ratio = row.ours / *row.peer;
  nlohmann::ordered_json line;
  line["what"] = row.what;
  line["ours"] = row.ours;
  line["peer"] = or_null(row.peer);
  line["ratio"] = or_null(ratio);
  line["bar"] = row.bar;
  line["holds"] = or_null(row.holds);
  line["unit"] = row.unit;
  line["note"] = row.note;
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void progress(const std::string& message) {
  std::fprintf(stderr, "  %s\n", message.c_str());
}

double now_seconds() {
  return clock_seconds(CLOCK_MONOTONIC);
}
double cpu_seconds() {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace plimsoll::bench

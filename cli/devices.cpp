#include <fmt/format.h>

#include "commands.h"
#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/json.h"
#include "plimsoll/memory_api.h"

namespace plimsoll::cli {
namespace {

struct Row {
  std::string name, label;
  std::uint64_t capacity = 0, limit = 0, in_use = 0;
  std::string origin;
};

std::string size_text(std::uint64_t nbytes) {
  return nbytes >= memory::kNoLimit ? "no limit" : format_bytes(nbytes);
}

std::vector<Row> rows_of_devices() {
  std::vector<Row> rows;
  config::list_logical_devices();  // the runtime starts
  const memory::Report report = memory::report();
  for (const memory::ReportDevice& device : report.devices) {
    const memory::BudgetStats stats = memory::stats(device.name);
    rows.push_back({.name = device.name,
                    .capacity = 0,
                    .limit = stats.limit,
                    .in_use = stats.in_use,
                    .origin = stats.origin});
  }
  for (const config::PhysicalDevice& physical : config::list_physical_devices()) {
    const config::DeviceDetails details = config::get_device_details(physical);
    const std::string name = physical.name.substr(physical.name.find(':') + 1);  // "GPU:0"
    for (Row& row : rows) {
      if (row.name != name) continue;
      row.label = details.device_name;
      row.capacity = details.memory_bytes.value_or(0);
    }
  }
  return rows;
}

void print_json(const std::vector<Row>& rows) {
  Json devices = Json::array(), profiles = Json::array();
  for (const Row& row : rows) {
    devices.push_back(
        Json::object({{"name", row.name},
                      {"device_name", row.label},
                      {"capacity_bytes", row.capacity ? Json(row.capacity) : Json()},
                      {"limit_bytes", row.limit >= memory::kNoLimit ? Json() : Json(row.limit)},
                      {"limit_origin", row.origin},
                      {"in_use_bytes", row.in_use}}));
  }
  for (const config::SimulatedProfile& profile : config::list_simulated_profiles()) {
    profiles.push_back(Json::object({{"name", profile.name},
                                     {"device_name", profile.device_name},
                                     {"memory_bytes", profile.memory_bytes},
                                     {"unified", profile.is_unified}}));
  }
  fmt::print("{}\n", Json::object({{"devices", devices}, {"profiles", profiles}}).dump(1));
}

}  // namespace

int show_devices(const DevicesArguments& a) {
  const std::vector<Row> rows = rows_of_devices();
  if (a.as_json) {
    print_json(rows);
    return kFits;
  }
  fmt::print("{:<8} {:>10} {:>10} {:>10}  {}\n", "device", "capacity", "limit", "in use",
             "limit set by");
  for (const Row& row : rows) {
    fmt::print("{:<8} {:>10} {:>10} {:>10}  {}{}\n", row.name,
               row.capacity ? format_bytes(row.capacity) : "-", size_text(row.limit),
               format_bytes(row.in_use), row.origin.empty() ? "-" : row.origin,
               row.label.empty() ? "" : " (" + row.label + ")");
  }
  fmt::print(
      "\ncan be simulated: plimsoll plan FILE --device NAME, or PLIMSOLL_SIM_DEVICES=NAME\n");
  for (const config::SimulatedProfile& profile : config::list_simulated_profiles()) {
    fmt::print("  {:<24} {:>10}  {}{}\n", profile.name, format_bytes(profile.memory_bytes),
               profile.device_name, profile.is_unified ? ", shared with the CPU" : "");
  }
  return kFits;
}

}  // namespace plimsoll::cli

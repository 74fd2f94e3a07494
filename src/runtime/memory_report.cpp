#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "memory/budget_tree.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/settings.h"
#include "runtime/config_state.h"
#include "runtime/context.h"
#include "runtime/copies.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"

namespace plimsoll::memory {
namespace {

// Budgets of a device are called by its name, or by its name, "/" and what they are for.
ReportRow make_row(const LedgerRow& row) {
  return {.device = row.budget.substr(0, row.budget.find('/')),
          .budget = row.budget,
          .tag = row.owner.tag(),
          .owner = row.owner.name(),
          .nbytes = row.nbytes,
          .count = row.count};
}

// Above a device that was taken up front there is one row for all of it. In its place come the rows
// of the device and one for the rest, which add up to the same.
void open_prepaid(const Device& device, std::vector<ReportRow>& rows) {
  const auto whole = std::ranges::find_if(rows, [&](const ReportRow& row) {
    return row.owner == device.short_name() && row.budget != device.short_name() &&
           row.tag == Tag::kCache;
  });
  if (whole == rows.end()) return;
  std::uint64_t rest = whole->nbytes;
  rows.erase(whole);
  for (const LedgerRow& row : device.budget().ledger()) {
    rows.push_back(make_row(row));
    rest -= row.nbytes;
  }
  if (rest) {
    rows.push_back({.device = device.short_name(),
                    .budget = device.short_name(),
                    .tag = Tag::kCache,
                    .owner = "(taken up front)",
                    .nbytes = rest,
                    .count = 1});
  }
}

void check_limit(std::uint64_t limit) {
  PLIMSOLL_CHECK(limit >= 1 && limit <= kNoLimit, InvalidArgumentError,
                 "a budget must be from 1 to 2^63 - 1 bytes, got {}", limit);
}

}  // namespace

void set_budget(std::string_view limit) {
  set_budget(parse_bytes(limit));
}

void set_budget(std::uint64_t limit_bytes) {
  check_limit(limit_bytes);
  {
    ConfigState& config = config_state();
    const std::scoped_lock lock(config.mutex);
    if (!Context::is_initialized()) {
      config.budget = limit_bytes;
      return;
    }
  }
  Budget(Context::get().process_budget())
      .set_limit(limit_bytes, Budget::Lowering::kRefuse, "memory::set_budget");
}

std::optional<std::uint64_t> get_budget() {
  std::optional<std::uint64_t> limit;
  if (Context::is_initialized()) {
    limit = Context::get().process_budget().limit();
  } else {
    ConfigState& config = config_state();
    const std::scoped_lock lock(config.mutex);
    limit = config.budget ? config.budget : settings::get_bytes("budget");
  }
  return limit == kNoLimit ? std::nullopt : limit;
}

Report report() {
  Report report;
  if (!Context::is_initialized()) return report;
  Context& context = Context::get();
  for (const LedgerRow& row : context.root_budget().ledger()) report.rows.push_back(make_row(row));
  for (const auto& device : context.devices()) {
    if (device->is_up_front()) open_prepaid(*device, report.rows);
    const BudgetStats stats = device->budget().stats();
    report.devices.push_back({.name = device->short_name(),
                              .limit = stats.limit,
                              .limit_origin = stats.origin,
                              .in_use = stats.in_use,
                              .peak = stats.peak,
                              .committed = stats.committed});
  }
  std::ranges::stable_sort(report.rows, std::ranges::greater{}, &ReportRow::nbytes);
  for (const ReportRow& row : report.rows) report.total += row.nbytes;
  const ExternalUse external = external_use();
  report.external = external.nbytes;
  report.external_count = external.count;
  return report;
}

std::string Report::to_string() const {
  std::string text = fmt::format("{:<8} {:>12} {:>12} {:>12} {:>12}  limit set by\n", "device",
                                 "limit", "in use", "peak", "pages");
  for (const ReportDevice& d : devices) {
    text +=
        fmt::format("{:<8} {:>12} {:>12} {:>12} {:>12}  {}\n", d.name,
                    d.limit == kNoLimit ? "none" : format_bytes(d.limit), format_bytes(d.in_use),
                    format_bytes(d.peak), format_bytes(d.committed), d.limit_origin);
  }
  text += fmt::format("\n{:<14} {:<12} {:<28} {:>8} {:>12}\n", "booked on", "tag", "owner", "count",
                      "bytes");
  for (const ReportRow& row : rows) {
    text += fmt::format("{:<14} {:<12} {:<28} {:>8} {:>12}\n", row.budget, tag_name(row.tag),
                        row.owner.empty() ? "(no name)" : row.owner, row.count,
                        format_bytes(row.nbytes));
  }
  text +=
      fmt::format("{:<14} {:<12} {:<28} {:>8} {:>12}\n", "total", "", "", "", format_bytes(total));
  if (external_count) {
    text += fmt::format("{:<14} {:<12} {:<28} {:>8} {:>12}\n", "external", "",
                        "(the caller's, not counted)", external_count, format_bytes(external));
  }
  return text;
}

std::string Report::to_json() const {
  auto json = nlohmann::ordered_json{{"total", total},
                                     {"external", external},
                                     {"devices", nlohmann::ordered_json::array()},
                                     {"rows", nlohmann::ordered_json::array()}};
  for (const ReportDevice& d : devices) {
    nlohmann::ordered_json limit;  // null: none
    if (d.limit != kNoLimit) limit = d.limit;
    json["devices"].push_back({{"name", d.name},
                               {"limit", limit},
                               {"limit_origin", d.limit_origin},
                               {"in_use", d.in_use},
                               {"peak", d.peak},
                               {"committed", d.committed}});
  }
  for (const ReportRow& row : rows) {
    json["rows"].push_back({{"device", row.device},
                            {"budget", row.budget},
                            {"tag", tag_name(row.tag)},
                            {"owner", row.owner},
                            {"nbytes", row.nbytes},
                            {"count", row.count}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::uint64_t trim() noexcept {
  if (!Context::is_initialized()) return 0;
  Context& context = Context::get();
  clear_kernel_cache();
  std::uint64_t given = reclaim_idle(context.root_budget().node(), kNoLimit);
  given += context.staging().heap().trim();
  for (const auto& device : context.devices()) given += device->heap().trim();
  return given;
}

namespace {

const Device& device_by_name(std::string_view name) {
  const Device* found = Context::get().find_device(parse_device_name(name));
  PLIMSOLL_CHECK(found, InvalidArgumentError, "No matching devices found for '{}'", name);
  return *found;
}

}  // namespace

BudgetStats stats(std::string_view device) {
  return device.empty() ? Context::get().root_budget().stats()
                        : device_by_name(device).budget().stats();
}

void set_limit(std::string_view device, std::uint64_t limit_bytes, const std::string& origin) {
  Budget budget = device_by_name(device).budget();
  budget.set_limit(limit_bytes, Budget::Lowering::kRefuse, origin);
}

}  // namespace plimsoll::memory

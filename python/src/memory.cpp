// tf.memory: budgets, scopes, the report.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <variant>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"

namespace plimsoll::python {
namespace {

using memory::BudgetScope;

// A size: a number of bytes, or a text as "512MiB".
struct Size {
  std::string text;
  std::uint64_t nbytes = 0;
};
Size to_size(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return {to_text(value, "limit"), 0};
  const std::int64_t number = to_int(value, "limit");
  if (number < 0) raise_value_error(fmt::format("a limit must not be negative, got {}", number));
  return {"", static_cast<std::uint64_t>(number)};
}

void set_budget(nb::handle limit) {
  if (limit.is_none()) return config_errors([] { memory::set_budget(memory::kNoLimit); });
  const Size size = to_size(limit);
  config_errors(
      [&] { size.text.empty() ? memory::set_budget(size.nbytes) : memory::set_budget(size.text); });
}

// Made when it is entered: `with tf.memory.budget("256MiB") as scope`.
class PyBudget {
 public:
  explicit PyBudget(nb::handle limit) : size_(to_size(limit)) {}
  void enter() {
    config_errors([&] {
      scope_ = size_.text.empty() ? std::make_unique<BudgetScope>(size_.nbytes)
                                  : std::make_unique<BudgetScope>(size_.text);
    });
  }
  void exit() {
    in_use_ = scope_->in_use();
    peak_ = scope_->peak();
    scope_.reset();
  }
  std::uint64_t in_use() const { return scope_ ? scope_->in_use() : in_use_; }
  std::uint64_t peak() const { return scope_ ? scope_->peak() : peak_; }

 private:
  Size size_;
  std::unique_ptr<BudgetScope> scope_;
  std::uint64_t in_use_ = 0, peak_ = 0;  // when it was left
};

nb::object limit_or_none(std::uint64_t limit) {
  return limit == memory::kNoLimit ? nb::none() : nb::object(nb::int_(limit));
}

nb::dict stats(nb::handle device) {
  const std::string name = device.is_none() ? "" : to_text(device, "device");
  const memory::BudgetStats found = config_errors([&] { return memory::stats(name); });
  nb::dict made;
  made["name"] = found.name;
  made["limit"] = limit_or_none(found.limit);
  made["origin"] = found.origin;
  made["in_use"] = found.in_use;
  made["peak"] = found.peak;
  made["committed"] = found.committed;
  made["count"] = found.count;
  made["refused"] = found.refused;
  nb::dict by_tag;
  for (std::size_t i = 0; i < memory::kNumTags; ++i) {
    const std::string_view tag = memory::tag_name(static_cast<memory::Tag>(i));
    by_tag[nb::str(tag.data(), tag.size())] = found.by_tag[i];
  }
  made["by_tag"] = by_tag;
  return made;
}

void bind_report(nb::module_& m) {
  nb::class_<memory::ReportRow>(m, "MemoryReportRow")
      .def_ro("device", &memory::ReportRow::device)
      .def_ro("budget", &memory::ReportRow::budget)
      .def_prop_ro(
          "tag",
          [](const memory::ReportRow& row) { return std::string(memory::tag_name(row.tag)); })
      .def_ro("owner", &memory::ReportRow::owner)
      .def_ro("nbytes", &memory::ReportRow::nbytes)
      .def_ro("count", &memory::ReportRow::count)
      .def("__repr__", [](const memory::ReportRow& row) {
        return fmt::format("<{} {} '{}': {} bytes in {}>", row.device, memory::tag_name(row.tag),
                           row.owner, row.nbytes, row.count);
      });
  nb::class_<memory::ReportDevice>(m, "MemoryReportDevice")
      .def_ro("name", &memory::ReportDevice::name)
      .def_prop_ro("limit", [](const memory::ReportDevice& d) { return limit_or_none(d.limit); })
      .def_ro("limit_origin", &memory::ReportDevice::limit_origin)
      .def_ro("in_use", &memory::ReportDevice::in_use)
      .def_ro("peak", &memory::ReportDevice::peak)
      .def_ro("committed", &memory::ReportDevice::committed);
  nb::class_<memory::Report>(m, "MemoryReport")
      .def_ro("devices", &memory::Report::devices)
      .def_ro("rows", &memory::Report::rows)
      .def_ro("total", &memory::Report::total)
      .def_ro("external", &memory::Report::external)
      .def("to_json", &memory::Report::to_json)
      .def("__str__", &memory::Report::to_string)
      .def("__repr__", &memory::Report::to_string);
}

}  // namespace

void bind_memory(nb::module_& m) {
  bind_report(m);
  nb::module_ c = m.def_submodule("memory");
  nb::class_<PyBudget>(c, "budget")
      .def(nb::init<nb::handle>(), nb::arg("limit"),
           "What this thread allocates inside `with` counts against this limit as well.")
      .def("__enter__",
           [](nb::handle self) {
             nb::inst_ptr<PyBudget>(self)->enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](PyBudget& scope, nb::args) { scope.exit(); })
      .def_prop_ro("in_use", &PyBudget::in_use)
      .def_prop_ro("peak", &PyBudget::peak);
  c.def("set_budget", &set_budget, nb::arg("limit").none(),
        "The limit for the host's memory: bytes, or a text as \"2GiB\".");
  c.def("get_budget", &memory::get_budget);
  c.def(
      "report", [] { return without_gil([] { return memory::report(); }); }, "Who holds what now.");
  c.def(
      "trim", [] { return without_gil([] { return memory::trim(); }); },
      "Gives back everything that nobody uses; the bytes.");
  c.def("stats", &stats, nb::arg("device").none() = nb::none());
  c.def("set_limit", &memory::set_limit, nb::arg("device"), nb::arg("limit_bytes"),
        nb::arg("origin"), "Another limit for a logical device.");
}

}  // namespace plimsoll::python

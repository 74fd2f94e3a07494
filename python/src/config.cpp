// tf.config: devices and their limits. plimsoll/config.py has the names.
#include "plimsoll/config.h"

#include <fmt/format.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"

namespace plimsoll::python {
namespace {

using config::LogicalDevice;
using config::LogicalDeviceConfiguration;
using config::PhysicalDevice;

const PhysicalDevice& to_device(nb::handle value) {
  if (!nb::isinstance<PhysicalDevice>(value))
    raise_value_error("Unrecognized device: " + repr_of(value));
  return *nb::inst_ptr<PhysicalDevice>(value);
}

std::string device_type(nb::handle value) {
  return value.is_none() ? "" : to_text(value, "device_type");
}

std::int64_t to_limit(nb::handle value) {
  if (PyBool_Check(value.ptr()) ||
      !(PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) || PyIndex_Check(value.ptr()))) {
    raise_type_error(fmt::format("memory_limit must be a number of MiB, got {}", repr_of(value)));
  }
  return static_cast<std::int64_t>(to_double(value, "memory_limit"));
}

void make_limits(LogicalDeviceConfiguration* self, nb::handle memory_limit, nb::handle priority,
                 nb::handle) {
  std::optional<std::int64_t> limit;
  if (!memory_limit.is_none()) limit = to_limit(memory_limit);
  if (limit && *limit < 1)
    raise_value_error(
        fmt::format("memory_limit must be 1 MiB or more, got {}", repr_of(memory_limit)));
  if (!priority.is_none())
    raise_value_error(
        fmt::format("experimental_priority is not supported, got {}", repr_of(priority)));
  new (self) LogicalDeviceConfiguration{limit};
}

void set_memory_growth(nb::handle device, nb::handle enable) {
  const PhysicalDevice& known = to_device(device);
  if (!PyBool_Check(enable.ptr())) {
    raise_type_error(
        fmt::format("set_memory_growth(device, enable): enable must be True or False, got "
                    "{}. For all GPUs: for gpu in "
                    "tf.config.list_physical_devices('GPU'): "
                    "tf.config.experimental.set_memory_growth(gpu, True)",
                    repr_of(enable)));
  }
  config_errors([&] { config::set_memory_growth(known, enable.ptr() == Py_True); });
}

void set_visible_devices(nb::handle devices, nb::handle type) {
  std::vector<PhysicalDevice> list;
  if (nb::isinstance<PhysicalDevice>(devices)) {
    list.push_back(to_device(devices));
  } else if (!PyList_Check(devices.ptr()) && !PyTuple_Check(devices.ptr())) {
    raise_value_error("Unrecognized device: " + repr_of(devices));
  } else {
    for (const nb::handle device : devices) list.push_back(to_device(device));
  }
  const std::string kind = device_type(type);
  config_errors([&] { config::set_visible_devices(list, kind); });
}

void set_logical(nb::handle device, nb::handle logical_devices) {
  const PhysicalDevice& known = to_device(device);
  std::vector<LogicalDeviceConfiguration> list;
  if (!logical_devices.is_none()) {
    for (const nb::handle one : logical_devices) {
      if (!nb::isinstance<LogicalDeviceConfiguration>(one))
        raise_type_error("expected a LogicalDeviceConfiguration, got " + repr_of(one));
      list.push_back(*nb::inst_ptr<LogicalDeviceConfiguration>(one));
    }
  }
  config_errors([&] { config::set_logical_device_configuration(known, list); });
}

nb::object get_logical(nb::handle device) {
  const PhysicalDevice& known = to_device(device);
  const auto list = config_errors([&] { return config::get_logical_device_configuration(known); });
  return list.empty() ? nb::none() : nb::cast(list);
}

nb::dict memory_info(const std::string& device) {
  const config::MemoryInfo info = config_errors([&] { return config::get_memory_info(device); });
  nb::dict made;
  made["current"] = info.current;
  made["peak"] = info.peak;
  return made;
}

nb::dict device_details(nb::handle device) {
  const PhysicalDevice& known = to_device(device);
  const config::DeviceDetails found =
      config_errors([&] { return config::get_device_details(known); });
  nb::dict made;
  if (!found.device_name.empty()) made["device_name"] = found.device_name;
  if (found.compute_capability)
    made["compute_capability"] =
        nb::make_tuple(found.compute_capability->first, found.compute_capability->second);
  if (found.memory_bytes) made["memory_bytes"] = *found.memory_bytes;
  return made;
}

// A number of threads. throws: TypeError.
template <void (*F)(int)>
void set_threads(nb::handle num_threads) {
  const auto number = static_cast<int>(to_int(num_threads, "num_threads"));
  config_errors([&] { F(number); });
}

void bind_devices(nb::module_& m) {
  nb::class_<PhysicalDevice>(m, "PhysicalDevice")
      .def(
          "__init__",
          [](PhysicalDevice* self, std::string name, std::string type) {
            new (self) PhysicalDevice{name, type};
          },
          nb::arg("name"), nb::arg("device_type"))
      .def_ro("name", &PhysicalDevice::name)
      .def_ro("device_type", &PhysicalDevice::device_type)
      .def(nb::self == nb::self)
      .def("__hash__", [](const PhysicalDevice& d) { return std::hash<std::string>()(d.name); })
      .def("__repr__", &PhysicalDevice::to_string);
  nb::class_<LogicalDevice>(m, "LogicalDevice")
      .def_ro("name", &LogicalDevice::name)
      .def_ro("device_type", &LogicalDevice::device_type)
      .def(nb::self == nb::self)
      .def("__hash__", [](const LogicalDevice& d) { return std::hash<std::string>()(d.name); })
      .def("__repr__", [](const LogicalDevice& d) {
        return fmt::format("LogicalDevice(name='{}', device_type='{}')", d.name, d.device_type);
      });
  nb::class_<LogicalDeviceConfiguration>(m, "LogicalDeviceConfiguration")
      .def("__init__", &make_limits, nb::arg("memory_limit").none() = nb::none(),
           nb::arg("experimental_priority").none() = nb::none(),
           nb::arg("experimental_device_ordinal").none() = nb::none())
      .def_prop_ro("memory_limit",
                   [](const LogicalDeviceConfiguration& c) { return c.memory_limit; })
      .def(nb::self == nb::self)
      .def("__repr__", [](const LogicalDeviceConfiguration& c) {
        return fmt::format("LogicalDeviceConfiguration(memory_limit={})",
                           c.memory_limit ? std::to_string(*c.memory_limit) : "None");
      });
}

}  // namespace

void bind_config(nb::module_& m) {
  bind_devices(m);
  nb::module_ c = m.def_submodule("config");
  const auto type = nb::arg("device_type").none() = nb::none();
  c.def(
      "list_physical_devices",
      [](nb::handle t) { return config::list_physical_devices(device_type(t)); }, type);
  c.def(
      "list_logical_devices",
      [](nb::handle t) {
        const std::string kind = device_type(t);
        return without_gil([&] { return config::list_logical_devices(kind); });
      },
      type);
  c.def(
      "get_visible_devices",
      [](nb::handle t) { return config::get_visible_devices(device_type(t)); }, type);
  c.def("set_visible_devices", &set_visible_devices, nb::arg("devices").none(), type);
  c.def("set_logical_device_configuration", &set_logical, nb::arg("device").none(),
        nb::arg("logical_devices").none());
  c.def("get_logical_device_configuration", &get_logical, nb::arg("device").none());
  c.def("set_memory_growth", &set_memory_growth, nb::arg("device").none(),
        nb::arg("enable").none());
  c.def(
      "get_memory_growth",
      [](nb::handle device) {
        const PhysicalDevice& known = to_device(device);
        return config_errors([&] { return config::get_memory_growth(known); });
      },
      nb::arg("device").none());
  c.def("get_memory_info", &memory_info, nb::arg("device"));
  c.def(
      "reset_memory_stats",
      [](const std::string& device) { config_errors([&] { config::reset_memory_stats(device); }); },
      nb::arg("device"));
  c.def("get_device_details", &device_details, nb::arg("device").none());
  c.def("set_soft_device_placement", &config::set_soft_device_placement, nb::arg("enabled"));
  c.def("get_soft_device_placement", &config::get_soft_device_placement);
  c.def("set_intra_op_parallelism_threads",
        &set_threads<config::threading::set_intra_op_parallelism_threads>, nb::arg("num_threads"));
  c.def("get_intra_op_parallelism_threads", &config::threading::get_intra_op_parallelism_threads);
  c.def("set_inter_op_parallelism_threads",
        &set_threads<config::threading::set_inter_op_parallelism_threads>, nb::arg("num_threads"));
  c.def("get_inter_op_parallelism_threads", &config::threading::get_inter_op_parallelism_threads);
}

}  // namespace plimsoll::python

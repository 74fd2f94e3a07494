// Scopes of devices and names, settings, and where the program is.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <omp.h>
// After Python's own header.
#include <frameobject.h>

#include <memory>
#include <optional>
#include <string>

#include "errors.h"
#include "plimsoll/debugging.h"
#include "plimsoll/device.h"
#include "plimsoll/function.h"
#include "plimsoll/interop.h"
#include "plimsoll/settings.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {
namespace {

// Something that holds from `with` to its end, on the thread that enters it.
template <class Scope, class... A>
class Entered {
 public:
  explicit Entered(A... args) : args_(std::move(args)...) {}
  Entered(Entered&&) = default;
  void enter() {
    config_errors([&] {
      std::apply([&](const A&... args) { scopes_.push_back(std::make_unique<Scope>(args...)); },
                 args_);
    });
  }
  void exit() {
    if (!scopes_.empty()) scopes_.pop_back();
  }

 private:
  std::tuple<A...> args_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // it may be entered again
};

struct InDevice {
  explicit InDevice(const std::optional<std::string>& name)
      : scope(device(name ? std::optional<std::string_view>(*name) : std::nullopt)) {}
  DeviceScope scope;
};

using DeviceEntry = Entered<InDevice, std::optional<std::string>>;
using NameEntry = Entered<name_scope, std::string>;
using InitEntry = Entered<interop::InitScope>;

template <class T>
nb::class_<T> bind_scope(nb::module_& m, const char* name) {
  return nb::class_<T>(m, name)
      .def("__enter__",
           [](nb::handle self) {
             nb::inst_ptr<T>(self)->enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](T& scope, nb::args) { scope.exit(); });
}

std::string package_folder;  // files in it are not the user's

// "train.py:12" of the innermost frame that is not ours. Asked for by calls that hold the lock or
// have given it back.
std::string call_site() {
  if (!PyGILState_GetThisThreadState()) return "";  // no thread of Python
  const nb::gil_scoped_acquire lock;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  std::string site;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    const bool is_ours =
        !file || (!package_folder.empty() && std::string_view(file).starts_with(package_folder));
    if (!is_ours) {
      const std::string_view path = file;
      site = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), PyFrame_GetLineNumber(frame));
    }
    Py_DECREF(code);
    PyFrameObject* outer = site.empty() ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = outer;
  }
  PyErr_Clear();
  return site;
}

}  // namespace

void bind_runtime(nb::module_& m) {
  bind_scope<DeviceEntry>(m, "device")
      .def(
          "__init__",
          [](DeviceEntry* self, std::optional<std::string> name) {
            config_errors([&] { InDevice checked(name); });  // what cannot be read is said at once
            new (self) DeviceEntry(std::move(name));
          },
          nb::arg("device_name").none());
  bind_scope<NameEntry>(m, "NameScope").def("__init__", [](NameEntry* self, std::string name) {
    new (self) NameEntry(std::move(name));
  });
  bind_scope<InitEntry>(m, "init_scope").def(nb::init<>());
  m.def("is_tracing", [] { return interop::is_tracing(); });
  m.def("is_recording", [] { return interop::is_recording(); });
  m.def("set_log_device_placement", &debugging::set_log_device_placement, nb::arg("enabled"));
  m.def("get_log_device_placement", &debugging::get_log_device_placement);
  m.def("set_setting",
        [](const std::string& name, const std::string& value) { settings::set(name, value); });
  m.def("watch_call_sites", [](const std::string& folder) {
    package_folder = folder;
    interop::set_call_site(&call_site);
  });
  // A child of fork has none of the threads of OpenMP's pool, and libgomp would wait for them.
  m.def("after_fork_in_child", [] { omp_set_num_threads(1); });
}

}  // namespace plimsoll::python

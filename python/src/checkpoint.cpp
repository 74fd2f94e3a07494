// plimsoll._core.TensorBundleWriter and Reader.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/data/tensor_bundle.h"
#include "py_tensor.h"

namespace plimsoll::python {

void bind_checkpoint(nb::module_& m) {
  using io::TensorBundleReader;
  using io::TensorBundleWriter;
  nb::class_<TensorBundleWriter>(m, "TensorBundleWriter")
      .def(nb::init<std::string>(), nb::arg("prefix"))
      .def("add",
           [](TensorBundleWriter& writer, const std::string& name, nb::handle value) {
             const Tensor tensor = to_tensor(value);
             without_gil([&] { writer.add(name, tensor); });
           })
      .def("finish", [](TensorBundleWriter& writer) { without_gil([&] { writer.finish(); }); });
  nb::class_<TensorBundleReader>(m, "TensorBundleReader")
      .def(nb::init<std::string>(), nb::arg("prefix"))
      .def("has", &TensorBundleReader::has)
      .def("read",
           [](const TensorBundleReader& reader, const std::string& name) {
             return to_python(without_gil([&] { return reader.read(name); }));
           })
      // Shapes and types by name.
      .def("specs", [](const TensorBundleReader& reader) {
        nb::dict made;
        for (const auto& [name, spec] : reader.specs())
          made[name.c_str()] =
              nb::make_tuple(shape_tuple(spec.shape), nb::borrow(dtype_object(spec.dtype)));
        return made;
      });
}

}  // namespace plimsoll::python

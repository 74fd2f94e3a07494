// Ragged tensors, which Python has as flat_values and [splits], outermost first.
#include "plimsoll/ragged.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "gil.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

RaggedTensor to_ragged(nb::handle flat_values, nb::handle nested_row_splits) {
  std::vector<Tensor> splits;
  for (const nb::handle item : nested_row_splits) splits.push_back(to_tensor(item));
  return RaggedTensor(to_tensor(flat_values), std::move(splits));
}

}  // namespace

void bind_ragged(nb::module_& core) {
  nb::module_ m = core.def_submodule("ragged");
  m.def("check", [](nb::handle flat_values, nb::handle nested_row_splits) {
    to_ragged(flat_values, nested_row_splits);
  });
  m.def("splits_of_lengths", [](nb::handle lengths) {
    return to_python(RaggedTensor::row_splits_of(to_tensor(lengths)));
  });
  m.def("row_lengths", [](nb::handle flat_values, nb::handle nested_row_splits) {
    return to_python(to_ragged(flat_values, nested_row_splits).row_lengths());
  });
  m.def(
      "to_tensor",
      [](nb::handle flat_values, nb::handle nested_row_splits, nb::handle default_value,
         const std::optional<std::vector<std::int64_t>>& shape) {
        const RaggedTensor ragged = to_ragged(flat_values, nested_row_splits);
        const Tensor fill =
            default_value.is_none() ? Tensor() : to_tensor(default_value, ragged.dtype());
        return to_python(without_gil([&] { return ragged.to_tensor(fill, shape); }));
      },
      nb::arg("flat_values"), nb::arg("nested_row_splits"), nb::arg("default_value").none(),
      nb::arg("shape").none());
}

}  // namespace plimsoll::python

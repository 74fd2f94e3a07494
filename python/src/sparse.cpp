// Sparse tensors, which Python has as (indices, values, dense_shape).
#include "plimsoll/sparse.h"

#include <nanobind/nanobind.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

SparseTensor to_sparse(nb::handle indices, nb::handle values, nb::handle dense_shape) {
  return {to_tensor(indices, int64), to_tensor(values), to_tensor(dense_shape, int64)};
}
nb::object sparse_tuple(const SparseTensor& sparse) {
  return nb::make_tuple(to_python(sparse.indices), to_python(sparse.values),
                        to_python(sparse.dense_shape));
}

}  // namespace

void bind_sparse(nb::module_& core) {
  nb::module_ m = core.def_submodule("sparse");
  m.def("checked", [](nb::handle indices, nb::handle values, nb::handle dense_shape) {
    const SparseTensor made = to_sparse(indices, values, dense_shape);
    config_errors([&] { made.check(); });
    return sparse_tuple(made);
  });
  m.def(
      "to_dense",
      [](nb::handle indices, nb::handle values, nb::handle dense_shape, nb::handle default_value,
         bool validate_indices) {
        const SparseTensor sparse = to_sparse(indices, values, dense_shape);
        const Tensor fill =
            default_value.is_none() ? Tensor() : to_tensor(default_value, sparse.values.dtype());
        return to_python(
            without_gil([&] { return sparse::to_dense(sparse, fill, validate_indices); }));
      },
      nb::arg("indices"), nb::arg("values"), nb::arg("dense_shape"),
      nb::arg("default_value").none(), nb::arg("validate_indices"));
  m.def("from_dense", [](nb::handle tensor) {
    const Tensor dense = to_tensor(tensor);
    return sparse_tuple(without_gil([&] { return sparse::from_dense(dense); }));
  });
}

}  // namespace plimsoll::python

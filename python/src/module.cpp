// plimsoll._core: everything that the Python package is made of.
#include <nanobind/nanobind.h>

#include "convert.h"
#include "errors.h"
#include "nest.h"
#include "op_table.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {

void bind_buffer(nb::module_& m);
void bind_borrow(nb::module_& m);
void bind_tape(nb::module_& m);
void bind_custom_gradient(nb::module_& m);
void bind_function(nb::module_& m);
void bind_control_flow(nb::module_& m);
void bind_config(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_checkpoint(nb::module_& m);
void bind_dataset(nb::module_& m);
void bind_dataset_files(nb::module_& m);
void bind_dataset_function(nb::module_& m);
void bind_io(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_ragged(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_keras_object(nb::module_& m);
void bind_keras_tensor(nb::module_& m);
void bind_keras_variable(nb::module_& m);
void bind_keras_layer(nb::module_& m);
void bind_keras_py_layer(nb::module_& m);
void bind_keras_py_cell(nb::module_& m);
void bind_keras_parts(nb::module_& m);
void bind_keras_optimizer(nb::module_& m);
void bind_keras_callback(nb::module_& m);
void bind_keras_model(nb::module_& m);

}  // namespace plimsoll::python

NB_MODULE(_core, m) {
  using namespace plimsoll::python;
  nanobind::set_leak_warnings(false);  // ops and types live as long as the process
  bind_errors(m);
  bind_tensor(m);
  bind_convert(m);
  bind_buffer(m);
  bind_borrow(m);
  bind_variable(m);
  bind_nest(m);
  bind_ops(m);
  bind_tape(m);
  bind_custom_gradient(m);
  bind_function(m);
  bind_control_flow(m);
  bind_config(m);
  bind_memory(m);
  bind_runtime(m);
  bind_checkpoint(m);
  bind_dataset_function(m);
  bind_dataset(m);
  bind_dataset_files(m);
  bind_io(m);
  bind_strings(m);
  bind_ragged(m);
  bind_sparse(m);
  bind_keras_object(m);
  bind_keras_tensor(m);
  bind_keras_variable(m);
  bind_keras_layer(m);
  bind_keras_py_layer(m);
  bind_keras_py_cell(m);
  bind_keras_parts(m);
  bind_keras_optimizer(m);
  bind_keras_callback(m);
  bind_keras_model(m);
}

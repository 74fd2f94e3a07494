// tf.custom_gradient: a Python function as one step of the tapes.
#include "plimsoll/custom_gradient.h"

#include <memory>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

std::vector<Tensor> call_gradient(nb::handle function, std::span<const Tensor> upstream) {
  nb::list given;
  for (const Tensor& t : upstream) given.append(to_python(t));
  std::vector<Tensor> made;
  for (const nb::handle item : function(given))
    made.push_back(item.is_none() ? Tensor() : to_tensor(item));
  return made;
}

// forward(): results, gradient(upstream), variables.
nb::list custom_step(nb::handle inputs, nb::handle forward) {
  std::vector<Tensor> in;
  for (const nb::handle item : inputs) in.push_back(to_tensor(item));
  nb::object variables;  // as long as they are used
  const std::vector<Tensor> results = config_errors([&] {
    return custom_gradient(in, [&]() -> CustomStep {
      const nb::object made = forward();
      CustomStep step;
      for (const nb::handle item : nb::object(made[0])) step.results.push_back(to_tensor(item));
      variables = made[2];
      for (const nb::handle item : variables) step.variables.push_back(as_variable(item));
      step.gradient = [function = share(made[1])](std::span<const Tensor> upstream) {
        const nb::gil_scoped_acquire lock;
        return call_gradient(function.get(), upstream);
      };
      return step;
    });
  });
  nb::list given;
  for (const Tensor& t : results) given.append(to_python(t));
  return given;
}

}  // namespace

void bind_custom_gradient(nb::module_& m) {
  m.def("custom_step", &custom_step, nb::arg("inputs"), nb::arg("forward"));
}

}  // namespace plimsoll::python

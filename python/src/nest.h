// Structures of Python: lists, tuples, named tuples and dictionaries of leaves, as tf.nest has
// them.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

namespace plimsoll::python {

namespace nb = nanobind;

// Calls f for each leaf, in order: dictionaries by their sorted keys. What is no list, tuple or
// dictionary is a leaf; so is None.
void for_each_leaf(nb::handle structure, const std::function<void(nb::handle)>& f);
std::vector<nb::object> flatten(nb::handle structure);
// The same structure with other leaves. throws: ValueError if there are not as many.
nb::object pack_as(nb::handle structure, const std::vector<nb::object>& leaves);
bool is_nested(nb::handle value) noexcept;

void bind_nest(nb::module_& m);

}  // namespace plimsoll::python

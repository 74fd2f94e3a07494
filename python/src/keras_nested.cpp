#include "keras_nested.h"

#include "convert.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

bool is_sequence(nb::handle value) {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

// Whether a nested list holds nothing but Python's numbers or words.
bool is_plain(nb::handle value) {
  if (is_sequence(value)) {
    if (PySequence_Size(value.ptr()) == 0) return false;
    for (const nb::handle item : value) {
      if (!is_plain(item)) return false;
    }
    return true;
  }
  return PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) || PyUnicode_Check(value.ptr()) ||
         PyBytes_Check(value.ptr());
}

Tensor to_leaf(nb::handle value, bool as_float32) {
  Tensor made = to_tensor(value);
  if (as_float32 && made.dtype() == float64 && !is_tensor(value.ptr())) return cast(made, float32);
  return made;
}

// Structures of tensors; `leaf` makes one of what is in them.
template <class Leaf>
keras::Nested make_nested(nb::handle value, const Leaf& leaf) {
  if (value.is_none()) return {};
  if (nb::isinstance<keras::KerasTensor>(value))
    return keras::Value(*nb::inst_ptr<keras::KerasTensor>(value));
  if (PyDict_Check(value.ptr())) {
    keras::Nested::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members.emplace_back(nb::cast<std::string>(key), make_nested(item, leaf));
    return members;
  }
  if (is_sequence(value) && !is_plain(value)) {
    keras::Nested::List items;
    for (const nb::handle item : value) items.push_back(make_nested(item, leaf));
    return items;
  }
  return keras::Value(leaf(value));
}

bool is_dimension(nb::handle value) {
  return value.is_none() || PyIndex_Check(value.ptr());
}

}  // namespace

keras::Nested to_nested(nb::handle value, bool as_float32) {
  return make_nested(value, [&](nb::handle item) { return to_leaf(item, as_float32); });
}
keras::Nested borrow_nested(nb::handle value) {
  return make_nested(value, [](nb::handle item) { return borrow(item); });
}

nb::object from_nested(const keras::Nested& values, nb::handle like) {
  if (values.is_none()) return nb::none();
  if (values.is_leaf()) {
    const keras::Value& leaf = values.leaf();
    if (leaf.is_symbolic()) return nb::cast(leaf.symbolic());
    return to_python(leaf.tensor());
  }
  if (values.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : values.dict()) {
      nb::object inner = nb::none();
      if (PyDict_Check(like.ptr()) && nb::borrow<nb::dict>(like).contains(key.c_str()))
        inner = nb::borrow(like)[key.c_str()];
      members[key.c_str()] = from_nested(item, inner);
    }
    return members;
  }
  nb::list items;
  const bool has_like = is_sequence(like) && nb::len(like) == values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    items.append(from_nested(values[i], has_like ? nb::object(nb::borrow(like)[i]) : nb::none()));
  }
  if (!PyTuple_Check(like.ptr())) return items;
  if (nb::hasattr(like, "_fields")) return like.type()(*items);
  return nb::steal(PyList_AsTuple(items.ptr()));
}

nb::object numpy_from_nested(const keras::Nested& values) {
  if (values.is_leaf()) {
    const nb::object tensor = to_python(values.leaf().tensor());
    return to_numpy(tensor_of(tensor.ptr()), tensor, false);
  }
  if (values.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : values.dict()) members[key.c_str()] = numpy_from_nested(item);
    return members;
  }
  if (values.is_none()) return nb::none();
  nb::list items;
  for (const keras::Nested& item : values.list()) items.append(numpy_from_nested(item));
  return items;
}

keras::PartialShape to_partial_shape(nb::handle shape) {
  std::vector<std::int64_t> dims;
  if (PyIndex_Check(shape.ptr())) return keras::PartialShape{to_int(shape, "shape")};
  for (const nb::handle dim : shape)
    dims.push_back(dim.is_none() ? keras::kNone : to_int(dim, "shape"));
  return keras::PartialShape(std::move(dims));
}

nb::tuple from_partial_shape(const keras::PartialShape& shape) {
  nb::list dims;
  for (const std::int64_t dim : shape.dims())
    dims.append(dim < 0 ? nb::none() : nb::object(nb::int_(dim)));
  return nb::steal<nb::tuple>(PyList_AsTuple(dims.ptr()));
}

keras::Shapes to_shapes(nb::handle value) {
  if (value.is_none()) return {};
  if (PyDict_Check(value.ptr())) {
    keras::Shapes::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members.emplace_back(nb::cast<std::string>(key), to_shapes(item));
    return members;
  }
  bool is_shape = true;
  for (const nb::handle item : value) is_shape = is_shape && is_dimension(item);
  if (is_shape) return to_partial_shape(value);
  keras::Shapes::List items;
  for (const nb::handle item : value) items.push_back(to_shapes(item));
  return items;
}

nb::object from_shapes(const keras::Shapes& shapes) {
  if (shapes.is_none()) return nb::none();
  if (shapes.is_leaf()) return from_partial_shape(shapes.leaf());
  if (shapes.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : shapes.dict()) members[key.c_str()] = from_shapes(item);
    return members;
  }
  nb::list items;
  for (const keras::Shapes& item : shapes.list()) items.append(from_shapes(item));
  return items;
}

void bind_keras_tensor(nb::module_& m) {
  using keras::KerasTensor;
  nb::class_<KerasTensor>(m, "KerasTensor", nb::dynamic_attr(), nb::is_weak_referenceable(),
                          "A tensor without values, of which functional models are made.")
      .def_prop_ro("shape", [](const KerasTensor& t) { return from_partial_shape(t.shape()); })
      .def_prop_ro("dtype", [](const KerasTensor& t) { return std::string(dtype_name(t.dtype())); })
      .def_prop_ro("name", [](const KerasTensor& t) { return t.name(); })
      .def("is_same", [](const KerasTensor& a, const KerasTensor& b) { return a == b; });
  m.def(
      "keras_input",
      [](nb::handle shape, const std::string& name, nb::handle dtype, nb::handle batch_size) {
        return keras_errors([&] {
          keras::InputOptions options{.name = name, .dtype = to_dtype(dtype)};
          if (!batch_size.is_none()) options.batch_size = to_int(batch_size, "batch_size");
          return keras::Input(to_partial_shape(shape), options);
        });
      },
      nb::arg("shape"), nb::arg("name"), nb::arg("dtype"), nb::arg("batch_size").none());
}

}  // namespace plimsoll::python

#include "nest.h"

#include <fmt/format.h>

#include "errors.h"

namespace plimsoll::python {
namespace {

bool is_named_tuple(nb::handle value) {
  return PyTuple_Check(value.ptr()) && !PyTuple_CheckExact(value.ptr()) &&
         nb::hasattr(value, "_fields");
}

bool is_dict(nb::handle value) {
  return PyDict_Check(value.ptr());
}

nb::list sorted_keys(nb::handle dict) {
  const nb::list keys = nb::steal<nb::list>(PyDict_Keys(dict.ptr()));
  if (PyList_Sort(keys.ptr()) != 0) {
    PyErr_Clear();
    raise_type_error(
        fmt::format("nest only supports dicts with sortable keys, got {}", repr_of(dict)));
  }
  return keys;
}

class Packer {
 public:
  explicit Packer(const std::vector<nb::object>& leaves) : leaves_(leaves) {}

  nb::object pack(nb::handle structure) {
    if (is_dict(structure)) return pack_dict(structure);
    if (!is_nested(structure)) return next();
    nb::list items;
    for (const nb::handle item : structure) items.append(pack(item));
    if (PyList_Check(structure.ptr())) {
      if (PyList_CheckExact(structure.ptr())) return items;
      return structure.type()(items);
    }
    if (is_named_tuple(structure)) return structure.type()(*items);
    return nb::steal(PyList_AsTuple(items.ptr()));
  }

  bool is_done() const { return at_ == leaves_.size(); }

 private:
  nb::object next() {
    if (at_ == leaves_.size()) {
      raise_value_error(
          fmt::format("the structure has more leaves than were given: {}", leaves_.size()));
    }
    return leaves_[at_++];
  }

  nb::object pack_dict(nb::handle structure) {
    nb::dict by_key;
    for (const nb::handle key : sorted_keys(structure)) {
      const nb::object item = nb::borrow(PyDict_GetItem(structure.ptr(), key.ptr()));
      by_key[key] = pack(item);
    }
    nb::dict made;  // in the order of the original
    for (const nb::handle key : nb::steal<nb::list>(PyDict_Keys(structure.ptr())))
      made[key] = by_key[key];
    if (PyDict_CheckExact(structure.ptr())) return made;
    return structure.type()(made);
  }

  const std::vector<nb::object>& leaves_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_nested(nb::handle value) noexcept {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyDict_Check(value.ptr());
}

void for_each_leaf(nb::handle structure, const std::function<void(nb::handle)>& f) {
  if (is_dict(structure)) {
    for (const nb::handle key : sorted_keys(structure))
      for_each_leaf(PyDict_GetItem(structure.ptr(), key.ptr()), f);
  } else if (is_nested(structure)) {
    for (const nb::handle item : structure) for_each_leaf(item, f);
  } else {
    f(structure);
  }
}

std::vector<nb::object> flatten(nb::handle structure) {
  std::vector<nb::object> leaves;
  for_each_leaf(structure, [&](nb::handle leaf) { leaves.push_back(nb::borrow(leaf)); });
  return leaves;
}

nb::object pack_as(nb::handle structure, const std::vector<nb::object>& leaves) {
  Packer packer(leaves);
  nb::object made = packer.pack(structure);
  if (!packer.is_done()) {
    raise_value_error(
        fmt::format("the structure has fewer leaves than were given: {}", leaves.size()));
  }
  return made;
}

void bind_nest(nb::module_& m) {
  m.def("nest_flatten", [](nb::handle structure) {
    nb::list leaves;
    for_each_leaf(structure, [&](nb::handle leaf) { leaves.append(leaf); });
    return leaves;
  });
  m.def("nest_pack", [](nb::handle structure, nb::handle flat) {
    std::vector<nb::object> leaves;
    for (const nb::handle leaf : flat) leaves.push_back(nb::borrow(leaf));
    return pack_as(structure, leaves);
  });
  m.def("nest_is_nested", [](nb::handle value) { return is_nested(value); });
}

}  // namespace plimsoll::python

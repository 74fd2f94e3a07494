// x[...]: integers, slices, ..., newaxis, tensors, boolean masks.
#include <fmt/format.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "operators.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

// An index whose value is known only in a run: taken out of its axis afterwards.
struct Pick {
  int from_front;  // places that use an axis before it
  Tensor at;
};

struct Spec {
  std::vector<Index> places;
  std::vector<Pick> picks;
};

[[noreturn]] void no_index(nb::handle key) {
  raise_type_error(
      fmt::format("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
                  "tf.int32/tf.int64 tensors are valid indices, got {}",
                  repr_of(key)));
}

std::optional<std::int64_t> bound(PyObject* value) {
  if (value == Py_None) return {};
  return to_int(value, "slice");
}

Index to_slice(nb::handle key) {
  auto* slice = reinterpret_cast<PySliceObject*>(key.ptr());
  const std::optional<std::int64_t> step = bound(slice->step);
  if (step == 0) raise_value_error("slice step cannot be zero");
  return Index(bound(slice->start), bound(slice->stop), step.value_or(1));
}

void add_place(Spec& spec, nb::handle key) {
  Tensor kept;
  const Tensor* tensor = tensor_behind(key, kept);
  if (tensor && interop::is_symbolic(*tensor)) {
    if (tensor->rank() != 0 || !is_integer(tensor->dtype())) no_index(key);
    spec.picks.push_back({static_cast<int>(spec.places.size()), *tensor});
    spec.places.emplace_back();
  } else if (PySlice_Check(key.ptr())) {
    spec.places.push_back(to_slice(key));
  } else if (key.ptr() == Py_Ellipsis) {
    spec.places.emplace_back(ellipsis);
  } else if (key.is_none()) {
    spec.places.emplace_back(newaxis);
  } else if (tensor ? tensor->rank() == 0 && is_integer(tensor->dtype())
                    : PyIndex_Check(key.ptr()) && !PyBool_Check(key.ptr())) {
    spec.places.emplace_back(to_int(key, "index"));
  } else {
    no_index(key);
  }
}

// A mask: a tensor or an array of bools.
std::optional<Tensor> as_mask(nb::handle key) {
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(key, kept))
    return tensor->dtype() == bool_ ? std::optional(*tensor) : std::nullopt;
  if (PyLong_Check(key.ptr()) || PySlice_Check(key.ptr()) || PyTuple_Check(key.ptr()) ||
      PyList_Check(key.ptr()) || key.is_none() || key.ptr() == Py_Ellipsis)
    return {};
  if (!nb::hasattr(key, "dtype") || !nb::hasattr(key, "shape")) return {};
  Tensor made = to_tensor(key);
  if (made.dtype() != bool_) return {};
  return made;
}

// Where in the result the axis of a place is, before anything is picked.
std::int64_t axis_of(const Spec& spec, int place, int result_rank) {
  std::int64_t before = 0, behind = 0;
  bool is_behind_ellipsis = false;
  for (int i = 0; i < static_cast<int>(spec.places.size()); ++i) {
    const Index::Kind kind = spec.places[static_cast<std::size_t>(i)].kind;
    if (kind == Index::Kind::kEllipsis) {
      if (i < place) is_behind_ellipsis = true;
      continue;
    }
    if (kind == Index::Kind::kAt) continue;
    if (i < place) ++before;
    if (i > place) ++behind;
  }
  return is_behind_ellipsis ? result_rank - 1 - behind : before;
}

Tensor pick(const Tensor& from, const Tensor& index, std::int64_t axis) {
  const auto length = static_cast<double>(from.shape().dim(static_cast<int>(axis)));
  const Tensor zero = fill({}, 0, index.dtype());
  const Tensor at = where(less(index, zero), add(index, fill({}, length, index.dtype())), index);
  return gather(from, at, axis);
}

}  // namespace

Tensor get_item(const Tensor& tensor, nb::handle key) {
  if (const std::optional<Tensor> mask = as_mask(key))
    return without_gil(tensor.num_elements(), [&] { return boolean_mask(tensor, *mask); });
  Spec spec;
  if (PyTuple_Check(key.ptr()) || PyList_Check(key.ptr())) {
    for (const nb::handle place : key) add_place(spec, place);
  } else {
    add_place(spec, key);
  }
  if (interop::is_tracing() && is_known_int(tensor) && spec.picks.empty()) {
    const interop::InitScope now;
    return getitem(tensor, spec.places);
  }
  Tensor result = getitem(tensor, spec.places);
  for (std::size_t i = spec.picks.size(); i-- > 0;) {
    const Pick& p = spec.picks[i];
    result = pick(result, p.at, axis_of(spec, p.from_front, result.rank()));
    spec.places[static_cast<std::size_t>(p.from_front)] = Index(0);  // the axis is gone
  }
  return result;
}

}  // namespace plimsoll::python

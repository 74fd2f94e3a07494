// The table of ops: one line for each public function, from which come the Python functions, their
// keyword arguments and defaults, their docstrings and the stub file.
//
//   op("tanh math.tanh nn.tanh", "x", tanh),
//   op("gather", "params, ~indices, axis=None, batch_dims=0", gather, "Rows by their numbers."),
//
// The first text has all names of the function, the first of them its own. The second has the
// arguments as Python writes them; every function takes `name=None`, behind them unless it stands
// among them, which is not looked at. Tensors of one call share a type: a number takes the type of
// the tensors beside it. Those with a ~ have a type of their own. Arguments with a ! are
// TensorFlow's and must have their default; C++ does not see them. The others are converted by
// In<T>.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "operators.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {

struct OpRow;

// A call: its arguments, none of them missing.
struct OpCall {
  const OpRow& row;
  PyObject* const* values;
  std::optional<DType> common = {};  // the type that its tensors share
  std::int64_t work = 0;             // elements that it will touch
  int num_tensors = 0;
  Tensor first;                     // the argument that says the common type, if it was converted
  PyObject* first_value = nullptr;  // what it was
  bool all_known = true;  // the values of its tensors are known while a function is traced

  PyObject* value(std::size_t i) const noexcept { return values[i]; }
  const char* name(std::size_t i) const;
  bool has_own_type(std::size_t i) const;
  // A tensor argument. None, where that is its default, gives an empty Tensor.
  const Tensor& tensor(std::size_t i, Tensor& kept);
  std::vector<Tensor> tensors(std::size_t i);
  // Takes the common type from the first tensor among arguments that have none of their own.
  void find_common(std::uint32_t tensor_arguments);
  void count(const Tensor& tensor) noexcept;
};

enum class OpKind : std::uint8_t {
  kPure,
  kEffect,  // draws random numbers, prints, checks: recorded even if all is known
};

struct OpRow {
  const char* names;
  const char* signature;
  PyObject* (*invoke)(const OpRow& row, PyObject* const* values);
  void (*function)();
  const char* doc;
  OpKind kind;
};

// An argument that is to be converted.
struct Given {
  OpCall& call;
  std::size_t i;
};
// How an argument of type T comes from Python. It stays where it is made.
template <class T>
struct In;

template <>
struct In<Tensor> {
  Tensor kept;
  const Tensor& value;
  In(const Given& given) : value(given.call.tensor(given.i, kept)) {}
  In(const In&) = delete;
};

template <class T>
struct InValue {
  T value;
};
#define PLIMSOLL_PYTHON_IN(Type, convert)                                       \
  template <>                                                                   \
  struct In<Type> : InValue<Type> {                                             \
    In(const Given& given)                                                      \
        : InValue<Type>{[&] {                                                   \
            [[maybe_unused]] const nb::handle from = given.call.value(given.i); \
            [[maybe_unused]] const char* what = given.call.name(given.i);       \
            return convert;                                                     \
          }()} {}                                                               \
  }

nn::WindowSizes to_window(nb::handle value, const char* what);
nn::PaddingArg to_padding(nb::handle value, const char* what);
Paddings to_pairs(nb::handle value, const char* what);
NormOrd to_norm_ord(nb::handle value);
Shape counted_shape(nb::handle value, OpCall& call);

PLIMSOLL_PYTHON_IN(std::int64_t, to_int(from, what));
PLIMSOLL_PYTHON_IN(double, to_double(from, what));
PLIMSOLL_PYTHON_IN(bool, to_bool(from, what));
PLIMSOLL_PYTHON_IN(DType, to_dtype(from));
PLIMSOLL_PYTHON_IN(std::string, (from.is_none() ? std::string() : to_text(from, what)));
PLIMSOLL_PYTHON_IN(Shape, counted_shape(from, given.call));
PLIMSOLL_PYTHON_IN(std::optional<std::int64_t>,
                   (from.is_none() ? std::optional<std::int64_t>() : to_int(from, what)));
PLIMSOLL_PYTHON_IN(std::optional<double>,
                   (from.is_none() ? std::optional<double>() : to_double(from, what)));
PLIMSOLL_PYTHON_IN(std::optional<DType>,
                   (from.is_none() ? std::optional<DType>() : to_dtype(from)));
PLIMSOLL_PYTHON_IN(std::vector<std::int64_t>,
                   (from.is_none() ? std::vector<std::int64_t>() : to_ints(from, what)));
PLIMSOLL_PYTHON_IN(std::vector<Tensor>, given.call.tensors(given.i));
PLIMSOLL_PYTHON_IN(nn::WindowSizes, to_window(from, what));
PLIMSOLL_PYTHON_IN(nn::PaddingArg, to_padding(from, what));
PLIMSOLL_PYTHON_IN(Paddings, to_pairs(from, what));
PLIMSOLL_PYTHON_IN(NormOrd, to_norm_ord(from));
PLIMSOLL_PYTHON_IN(random::Seed, random::Seed(to_tensor(from)));
PLIMSOLL_PYTHON_IN(nb::handle, from);
#undef PLIMSOLL_PYTHON_IN

template <>
struct In<std::string_view> {
  std::string kept;
  std::string_view value;
  In(const Given& given) : kept(In<std::string>(given).value), value(kept) {}
  In(const In&) = delete;
};
template <class T>
struct In<std::span<const T>> {
  std::vector<T> kept;
  std::span<const T> value;
  In(const Given& given) : kept(In<std::vector<T>>(given).value), value(kept) {}
  In(const In&) = delete;
};

// Results as Python has them.
inline PyObject* to_result(Tensor tensor) {
  return make_py_tensor(std::move(tensor));
}
inline PyObject* to_result(nb::object object) {
  return object.release().ptr();
}
PyObject* to_result(std::vector<Tensor> tensors);
PyObject* tuple_of(std::initializer_list<Tensor> tensors);
template <std::size_t N>
PyObject* to_result(std::array<Tensor, N> tensors) {
  nb::list items;
  for (Tensor& t : tensors) items.append(to_python(std::move(t)));
  return PyList_AsTuple(items.ptr());
}

template <class A>
inline constexpr bool kIsTensors =
    std::is_same_v<A, Tensor> || std::is_same_v<A, std::vector<Tensor>> ||
    std::is_same_v<A, std::span<const Tensor>>;

template <class A>
inline constexpr bool kIsList = kIsTensors<A> && !std::is_same_v<A, Tensor>;

template <class R, class... A>
PyObject* invoke(const OpRow& row, PyObject* const* values) {
  OpCall call{row, values};
  constexpr std::uint32_t tensor_arguments = [] {
    std::uint32_t bits = 0, bit = 1;
    (((kIsTensors<std::remove_cvref_t<A>> ? bits |= bit : 0U), bit <<= 1), ...);
    return bits;
  }();
  if constexpr (std::popcount(tensor_arguments) > 1 && !(kIsList<std::remove_cvref_t<A>> || ...))
    call.find_common(tensor_arguments);
  return [&]<std::size_t... I>(std::index_sequence<I...>)->PyObject* {
    std::tuple<In<std::remove_cvref_t<A>>...> in{Given{call, I}...};
    const auto run = [&]() -> R {
      return reinterpret_cast<R (*)(A...)>(row.function)(std::get<I>(in).value...);
    };
    if constexpr (std::is_same_v<R, nb::object>) {  // it handles Python's objects itself
      return to_result(run());
    } else if constexpr (std::is_void_v<R>) {
      without_gil(call.work, run);
      Py_RETURN_NONE;
    } else {
      if (call.num_tensors && call.all_known && row.kind == OpKind::kPure &&
          interop::is_tracing()) {
        const interop::InitScope now;
        return to_result(run());
      }
      return to_result(without_gil(call.work, run));
    }
  }
  (std::index_sequence_for<A...>());
}

template <class R, class... A>
OpRow op(const char* names, const char* signature, R (*f)(A...), const char* doc = "",
         OpKind kind = OpKind::kPure) {
  return {names, signature, &invoke<R, A...>, reinterpret_cast<void (*)()>(f), doc, kind};
}
// A row of a function that is written here as a lambda.
template <class F>
requires(!std::is_pointer_v<F> && !std::is_function_v<F>) OpRow
    op(const char* names, const char* signature, F f, const char* doc = "",
       OpKind kind = OpKind::kPure) {
  return op(names, signature, +f, doc, kind);
}

// The families.
std::vector<OpRow> math_ops();
std::vector<OpRow> nn_ops();
std::vector<OpRow> array_ops();
std::vector<OpRow> linalg_ops();
std::vector<OpRow> random_ops();
std::vector<OpRow> debugging_ops();

void bind_ops(nb::module_& m);

// Whether calls of this thread become nodes of a graph of the first version's kind.
bool is_building() noexcept;
// While it lives, they do not.
class EagerScope {
 public:
  EagerScope();
  ~EagerScope();
  EagerScope(const EagerScope&) = delete;
  EagerScope& operator=(const EagerScope&) = delete;
};

}  // namespace plimsoll::python

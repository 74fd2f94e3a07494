// Calls of the table's functions from Python: arguments by place and by name, defaults, messages.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <deque>
#include <map>

#include "nest.h"
#include "op_table.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

constexpr std::size_t kMaxParameters = 20;

struct Parameter {
  std::string name;
  PyObject* interned = nullptr;
  PyObject* missing = nullptr;  // the default; null: it must be given
  bool has_own_type = false;
  bool is_ignored = false;  // `name`, and with ! what must be its default
};

// A row with what is made of its texts once.
struct Entry : OpRow {
  std::vector<std::string> all_names;
  std::vector<Parameter> parameters;        // as Python has them
  std::vector<const Parameter*> looked_at;  // as C++ has them
  std::string docstring;
  PyMethodDef method{};
  PyObject* function = nullptr;  // made when it is first asked for
};

std::deque<Entry>& entries() {
  static std::deque<Entry>& all = *new std::deque<Entry>;
  return all;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" ~!");
  const auto last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

// A default as Python writes it: a number, a word in quotes, None, True, False or a short tuple.
PyObject* literal(const std::string& text) {
  const nb::dict globals;
  PyObject* made = PyRun_String(text.c_str(), Py_eval_input, globals.ptr(), globals.ptr());
  if (!made) throw nb::python_error();
  return made;
}

Parameter parse_parameter(std::string_view text) {
  Parameter made;
  made.has_own_type = text.find('~') != std::string_view::npos;
  made.is_ignored = text.find('!') != std::string_view::npos;
  const auto equals = text.find('=');
  made.name = trimmed(text.substr(0, equals));
  made.interned = PyUnicode_InternFromString(made.name.c_str());
  if (equals != std::string_view::npos) made.missing = literal(trimmed(text.substr(equals + 1)));
  return made;
}

std::vector<Parameter> parse_signature(std::string_view text) {
  std::vector<Parameter> made;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth) continue;
    if (!trimmed(text.substr(begin, i - begin)).empty())
      made.push_back(parse_parameter(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  for (Parameter& p : made) {
    if (p.name != "name") continue;
    p.is_ignored = true;
    return made;
  }
  made.push_back(parse_parameter("!name=None"));
  return made;
}

std::string last_part(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

// The signature in the form in which Python's inspect finds it.
std::string make_doc(const Entry& entry) {
  std::string signature = entry.signature;
  std::erase_if(signature, [](char c) { return c == '~' || c == '!'; });
  if (signature.find("name=") == std::string::npos)
    signature += signature.empty() ? "name=None" : ", name=None";
  return fmt::format("{}({})\n--\n\n{}", last_part(entry.all_names[0]), signature, entry.doc);
}

[[noreturn]] void unexpected(const Entry& entry, PyObject* keyword) {
  raise_type_error(fmt::format("{}() got an unexpected keyword argument {}",
                               last_part(entry.all_names[0]), repr_of(keyword)));
}

std::size_t find_parameter(const Entry& entry, PyObject* keyword) {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    if (entry.parameters[i].interned == keyword) return i;
  }
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    if (PyUnicode_Compare(entry.parameters[i].interned, keyword) == 0) return i;
  }
  unexpected(entry, keyword);
}

// Moves what C++ looks at to the front.
void leave_out_ignored(const Entry& entry, PyObject** values) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter& p = entry.parameters[i];
    if (!p.is_ignored) {
      values[to++] = values[i];
      continue;
    }
    if (p.name == "name" || values[i] == p.missing) continue;
    const int is_same = PyObject_RichCompareBool(values[i], p.missing, Py_EQ);
    if (is_same < 0) throw nb::python_error();
    if (!is_same) {
      throw UnimplementedError(fmt::format("{}(): {}={} is not built; it must be {}",
                                           last_part(entry.all_names[0]), p.name,
                                           repr_of(values[i]), repr_of(p.missing)));
    }
  }
}

void fill(const Entry& entry, PyObject* const* args, std::size_t num, PyObject* keywords,
          PyObject** values) {
  const std::size_t count = entry.parameters.size();
  if (num > count) {
    raise_type_error(fmt::format("{}() takes at most {} positional arguments but {} were given",
                                 last_part(entry.all_names[0]), count, num));
  }
  std::size_t i = 0;
  for (; i < num; ++i) values[i] = args[i];
  for (; i < count; ++i) values[i] = nullptr;
  const Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, k);
    const std::size_t at = find_parameter(entry, keyword);
    if (values[at]) {
      raise_type_error(fmt::format("{}() got multiple values for argument {}",
                                   last_part(entry.all_names[0]), repr_of(keyword)));
    }
    values[at] = args[num + static_cast<std::size_t>(k)];
  }
  for (i = 0; i < count; ++i) {
    if (values[i]) continue;
    values[i] = entry.parameters[i].missing;
    if (!values[i]) {
      raise_type_error(fmt::format("{}() missing required argument: '{}'",
                                   last_part(entry.all_names[0]), entry.parameters[i].name));
    }
  }
  if (entry.looked_at.size() + 1 < count || !entry.parameters.back().is_ignored)
    leave_out_ignored(entry, values);
}

// Arguments as Python's own calls have them.
struct PackedCall {
  nb::tuple places;
  nb::dict words;
};
PackedCall pack_call(PyObject* const* args, std::size_t num, PyObject* keywords) {
  PackedCall call;
  nb::list places;
  for (std::size_t i = 0; i < num; ++i) places.append(nb::handle(args[i]));
  call.places = nb::steal<nb::tuple>(PyList_AsTuple(places.ptr()));
  const Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < num_keywords; ++i)
    call.words[nb::handle(PyTuple_GET_ITEM(keywords, i))] =
        nb::handle(args[num + static_cast<std::size_t>(i)]);
  return call;
}

// Somebody else's tensors, Keras's for one, may take a call over:
// type.__plimsoll_call__(function, args, kwargs), or NotImplemented.
PyObject* ask_others(const Entry& entry, PyObject* const* args, std::size_t num,
                     PyObject* keywords) {
  const std::size_t total =
      num + static_cast<std::size_t>(keywords ? PyTuple_GET_SIZE(keywords) : 0);
  nb::object taker;
  const auto look = [&](nb::handle leaf) {
    if (taker.is_valid() || is_tensor(leaf.ptr())) return;
    const nb::handle type = leaf.type();
    if (nb::hasattr(type, "__plimsoll_call__")) taker = type.attr("__plimsoll_call__");
  };
  for (std::size_t i = 0; i < total; ++i) for_each_leaf(args[i], look);
  if (!taker.is_valid()) return nullptr;
  const PackedCall call = pack_call(args, num, keywords);
  nb::object made = taker(nb::handle(entry.function), call.places, call.words);
  return made.ptr() == Py_NotImplemented ? nullptr : made.release().ptr();
}

bool others_exist = false;  // set when some type with __plimsoll_call__ says so

// builder(function, args, kwargs), which gets every call while this thread builds a graph.
PyObject* builder = nullptr;
bool builds_by_default = false;
std::vector<bool>& modes() {
  thread_local std::vector<bool> of_thread;
  return of_thread;
}

PyObject* call_builder(const Entry& entry, PyObject* const* args, std::size_t num,
                       PyObject* keywords) {
  const PackedCall call = pack_call(args, num, keywords);
  nb::object made = nb::borrow(builder)(nb::handle(entry.function), call.places, call.words);
  return made.release().ptr();
}

PyObject* call_op(PyObject* self, PyObject* const* args, Py_ssize_t num, PyObject* keywords) {
  return guarded([&] {
    const Entry& entry = *static_cast<Entry*>(PyCapsule_GetPointer(self, nullptr));
    PyObject* values[kMaxParameters];
    fill(entry, args, static_cast<std::size_t>(num), keywords, values);
    if (others_exist) [[unlikely]] {
      if (PyObject* made = ask_others(entry, args, static_cast<std::size_t>(num), keywords))
        return made;
      if (is_building()) return call_builder(entry, args, static_cast<std::size_t>(num), keywords);
    }
    return entry.invoke(entry, values);
  });
}

PyObject* function_of(Entry& entry) {
  if (entry.function) return entry.function;
  entry.parameters = parse_signature(entry.signature);
  if (entry.parameters.size() > kMaxParameters) throw std::length_error(entry.names);
  for (const Parameter& p : entry.parameters) {
    if (!p.is_ignored) entry.looked_at.push_back(&p);
  }
  entry.docstring = make_doc(entry);
  static std::deque<std::string>& texts = *new std::deque<std::string>;
  const std::string& name = texts.emplace_back(last_part(entry.all_names[0]));
  entry.method = {name.c_str(),
                  reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_op)),
                  METH_FASTCALL | METH_KEYWORDS, entry.docstring.c_str()};
  const nb::object self = nb::steal(PyCapsule_New(&entry, nullptr, nullptr));
  const nb::str module("plimsoll");
  entry.function = PyCFunction_NewEx(&entry.method, self.ptr(), module.ptr());
  if (!entry.function) throw nb::python_error();
  return entry.function;
}

// By full name: "math.log".
std::map<std::string, Entry*, std::less<>>& by_name() {
  static auto& all = *new std::map<std::string, Entry*, std::less<>>;
  return all;
}

void add_rows(std::vector<OpRow> rows) {
  for (const OpRow& row : rows) {
    Entry& entry = entries().emplace_back();
    static_cast<OpRow&>(entry) = row;
    std::string_view names = row.names;
    while (!names.empty()) {
      const auto end = names.find(' ');
      entry.all_names.emplace_back(names.substr(0, end));
      by_name()[entry.all_names.back()] = &entry;
      names = end == std::string_view::npos ? "" : names.substr(end + 1);
    }
  }
}

const Entry& entry_of(const OpRow& row) {
  return static_cast<const Entry&>(row);
}

}  // namespace

bool is_building() noexcept {
  if (!builder || interop::is_tracing()) return false;
  return modes().empty() ? builds_by_default : modes().back();
}

EagerScope::EagerScope() {
  modes().push_back(false);
}
EagerScope::~EagerScope() {
  modes().pop_back();
}

const char* OpCall::name(std::size_t i) const {
  return entry_of(row).looked_at[i]->name.c_str();
}
bool OpCall::has_own_type(std::size_t i) const {
  return entry_of(row).looked_at[i]->has_own_type;
}

void OpCall::count(const Tensor& tensor) noexcept {
  ++num_tensors;
  work += tensor.num_elements();
  all_known = all_known && is_known_int(tensor);
}

const Tensor& OpCall::tensor(std::size_t i, Tensor& kept) {
  PyObject* from = values[i];
  if (is_tensor(from)) {
    const Tensor& tensor = tensor_of(from);
    count(tensor);
    return tensor;
  }
  if (from == Py_None && entry_of(row).looked_at[i]->missing == Py_None) return kept;
  const bool is_own = has_own_type(i);
  if (as_variable(from)) {
    kept = to_tensor(from);
  } else if (from == first_value) {
    kept = first;
  } else {
    kept = is_own ? to_tensor(from) : to_tensor(from, common);
  }
  if (!is_own && !common) common = kept.dtype();
  count(kept);
  return kept;
}

std::vector<Tensor> OpCall::tensors(std::size_t i) {
  nb::object list = nb::borrow(values[i]);
  std::vector<Tensor> made;
  if (is_tensor(list.ptr())) {  // its rows
    made = unstack(tensor_of(list.ptr()));
    for (const Tensor& t : made) count(t);
    return made;
  }
  if (!nb::hasattr(list, "__iter__")) made.push_back(to_tensor(list, common));
  if (made.empty()) {
    for (const nb::handle item : list) {
      made.push_back(as_variable(item) || is_tensor(item.ptr()) ? to_tensor(item)
                                                                : to_tensor(item, common));
      if (!common) common = made.back().dtype();
    }
  }
  for (const Tensor& t : made) count(t);
  return made;
}

void OpCall::find_common(std::uint32_t tensor_arguments) {
  Tensor kept;
  for (std::size_t i = 0; tensor_arguments >> i; ++i) {
    if (!(tensor_arguments >> i & 1U) || has_own_type(i)) continue;
    if (const Tensor* tensor = tensor_behind(values[i], kept)) {
      common = tensor->dtype();
      return;
    }
  }
  for (std::size_t i = 0; tensor_arguments >> i; ++i) {  // no tensor: the first value says it
    if (!(tensor_arguments >> i & 1U) || has_own_type(i) || values[i] == Py_None) continue;
    first = to_tensor(values[i]);
    first_value = values[i];
    common = first.dtype();
    return;
  }
}

PyObject* to_result(std::vector<Tensor> tensors) {
  nb::list items;
  for (Tensor& t : tensors) items.append(to_python(std::move(t)));
  return items.release().ptr();
}
PyObject* tuple_of(std::initializer_list<Tensor> tensors) {
  nb::list items;
  for (const Tensor& t : tensors) items.append(to_python(t));
  return PyList_AsTuple(items.ptr());
}

Shape counted_shape(nb::handle value, OpCall& call) {
  Shape shape = to_shape(value);
  call.work += shape.num_elements();
  return shape;
}

nn::WindowSizes to_window(nb::handle value, const char* what) {
  return nn::WindowSizes(value.is_none() ? std::vector<std::int64_t>(1, 1) : to_ints(value, what));
}

Paddings to_pairs(nb::handle value, const char* what) {
  Paddings pairs;
  const nb::object list =
      is_tensor(value.ptr()) ? to_numpy(tensor_of(value.ptr()), value, false) : nb::borrow(value);
  if (!nb::hasattr(list, "__iter__"))
    raise_type_error(fmt::format("{}: expected pairs of integers, got {}", what, repr_of(value)));
  for (const nb::handle item : list) {
    const std::vector<std::int64_t> pair = to_ints(item, what);
    if (pair.size() != 2)
      raise_value_error(
          fmt::format("{}: expected pairs of integers, got {}", what, repr_of(value)));
    pairs.emplace_back(pair[0], pair[1]);
  }
  return pairs;
}

nn::PaddingArg to_padding(nb::handle value, const char* what) {
  if (PyUnicode_Check(value.ptr())) return nn::PaddingArg(std::string_view(to_text(value, what)));
  return nn::PaddingArg(to_pairs(value, what));
}

NormOrd to_norm_ord(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return NormOrd(std::string_view(to_text(value, "ord")));
  return NormOrd(to_double(value, "ord"));
}

void bind_ops(nb::module_& m) {
  for (auto* family : {math_ops, nn_ops, array_ops, linalg_ops, random_ops, debugging_ops})
    add_rows(family());
  // A function by its full name, None if there is none.
  m.def("op", [](const std::string& name) {
    const auto found = by_name().find(name);
    return found == by_name().end() ? nb::none() : nb::borrow(function_of(*found->second));
  });
  // Names of a name space: "math", or "" for the top.
  m.def("op_names", [](const std::string& space) {
    nb::list names;
    for (const auto& [name, entry] : by_name()) {
      const auto dot = name.rfind('.');
      const std::string inside = dot == std::string::npos ? "" : name.substr(0, dot);
      if (inside == space) names.append(last_part(name));
    }
    return names;
  });
  m.def("let_others_take_calls", [] { others_exist = true; });
  m.def("set_builder", [](nb::object function) {
    builder = function.release().ptr();
    others_exist = true;
  });
  m.def("build_by_default", [](bool builds) { builds_by_default = builds; });
  m.def("push_mode", [](bool builds) { modes().push_back(builds); });
  m.def("pop_mode", [] { modes().pop_back(); });
  m.def("is_building", &is_building);
}

}  // namespace plimsoll::python

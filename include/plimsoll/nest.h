// Structures of things: one, none, a list, or a dictionary of further structures, as Keras takes
// inputs, losses and metrics.
//
//   Nest<Tensor> x = {a, b};                  // a list
//   Nest<Tensor> y = {{"image", a}, {"text", b}};   // by Nest<Tensor>::dict
//   for (Tensor& t : x.flatten()) ...
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll {

// Whether a Nest<Leaf> of one leaf may stand where a T is expected.
template <class Leaf, class T>
inline constexpr bool kReadsAs = std::is_same_v<Leaf, T>;

template <class Leaf>
class Nest {
 public:
  using List = std::vector<Nest>;
  using Member = std::pair<std::string, Nest>;
  using Dict = std::vector<Member>;  // in order

  Nest() noexcept = default;  // none
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, Nest> && std::is_convertible_v<T, Leaf>) Nest(T&& leaf)
      : value_(std::in_place_type<Leaf>, std::forward<T>(leaf)) {}
  Nest(std::initializer_list<Nest> list) : value_(List(list)) {}
  Nest(List list) noexcept : value_(std::move(list)) {}
  Nest(Dict dict) noexcept : value_(std::move(dict)) {}
  template <class T>
  requires(std::is_convertible_v<T, Leaf>) Nest(const std::vector<T>& leaves)
      : value_(List(leaves.begin(), leaves.end())) {}
  static Nest dict(std::initializer_list<Member> members) { return Nest(Dict(members)); }

  bool is_none() const noexcept { return value_.index() == 0; }
  bool is_leaf() const noexcept { return value_.index() == 1; }
  bool is_list() const noexcept { return value_.index() == 2; }
  bool is_dict() const noexcept { return value_.index() == 3; }

  // throws: InvalidArgumentError if it is something else.
  const Leaf& leaf() const {
    if (is_leaf()) return std::get<1>(value_);
    // A list of one stands for the one in it.
    if (is_list() && list().size() == 1) return list()[0].leaf();
    throw InvalidArgumentError(std::string("expected one, received ") + kind_name());
  }
  const List& list() const {
    if (!is_list())
      throw InvalidArgumentError(std::string("expected a list, received ") + kind_name());
    return std::get<2>(value_);
  }
  List& list() { return const_cast<List&>(std::as_const(*this).list()); }
  const Dict& dict() const {
    if (!is_dict())
      throw InvalidArgumentError(std::string("expected a dictionary, received ") + kind_name());
    return std::get<3>(value_);
  }
  Dict& dict() { return const_cast<Dict&>(std::as_const(*this).dict()); }

  // The one leaf, as what it can be read as.
  template <class T>
  requires kReadsAs<Leaf, T>
  operator T() const { return static_cast<const T&>(leaf()); }

  // Of a list or a dictionary how many, else 1; none: 0.
  std::size_t size() const noexcept {
    if (is_list()) return std::get<2>(value_).size();
    if (is_dict()) return std::get<3>(value_).size();
    return is_none() ? 0 : 1;
  }
  // One of a list, a dictionary in its order, or the one itself.
  const Nest& operator[](std::size_t i) const {
    if (is_list() && i < size()) return list()[i];
    if (is_dict() && i < size()) return dict()[i].second;
    if (is_leaf() && i == 0) return *this;
    throw InvalidArgumentError("no element " + std::to_string(i) + " in " + kind_name());
  }
  Nest& operator[](std::size_t i) { return const_cast<Nest&>(std::as_const(*this)[i]); }
  // None if there is no such member.
  const Nest* find(std::string_view key) const noexcept {
    if (!is_dict()) return nullptr;
    for (const Member& member : std::get<3>(value_)) {
      if (member.first == key) return &member.second;
    }
    return nullptr;
  }
  // A member, made if it is not there; none becomes a dictionary.
  Nest& operator[](std::string_view key) {
    if (is_none()) value_ = Dict();
    for (Member& member : dict()) {
      if (member.first == key) return member.second;
    }
    return dict().emplace_back(std::string(key), Nest()).second;
  }

  // The leaves, in order; what is none is left out.
  std::vector<Leaf> flatten() const {
    std::vector<Leaf> leaves;
    for_each([&](const Leaf& leaf) { leaves.push_back(leaf); });
    return leaves;
  }
  template <class F>
  void for_each(F&& f) const {
    if (is_leaf()) f(std::get<1>(value_));
    if (is_list()) {
      for (const Nest& item : list()) item.for_each(f);
    }
    if (is_dict()) {
      for (const Member& member : dict()) member.second.for_each(f);
    }
  }
  // The same structure with f(leaf) for each leaf.
  template <class F>
  auto map(F&& f) const -> Nest<std::decay_t<std::invoke_result_t<F&, const Leaf&>>> {
    using To = Nest<std::decay_t<std::invoke_result_t<F&, const Leaf&>>>;
    if (is_leaf()) return To(f(std::get<1>(value_)));
    if (is_list()) {
      typename To::List items;
      for (const Nest& item : list()) items.push_back(item.map(f));
      return To(std::move(items));
    }
    if (is_dict()) {
      typename To::Dict members;
      for (const Member& member : dict()) members.emplace_back(member.first, member.second.map(f));
      return To(std::move(members));
    }
    return To();
  }

 private:
  std::string kind_name() const {
    if (is_none()) return "none";
    if (is_leaf()) return "one";
    return (is_list() ? "a list of " : "a dictionary of ") + std::to_string(size());
  }

  std::variant<std::monostate, Leaf, List, Dict> value_;
};

}  // namespace plimsoll

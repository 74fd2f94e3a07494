// Objects by name: Keras's tables, and what users have registered.
#pragma once

#include <span>

#include "plimsoll/error.h"
#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

// An object of a name ("glorot_uniform", "GlorotUniform") or of {"class_name": ..., "config": ...}.
// Names that users registered come first. `kind` is named in errors: "initializer".
// throws: InvalidArgumentError for what is no such thing, with the names that are.
std::shared_ptr<Object> make_object(const Json& identifier, std::span<const ClassRow> rows,
                                    const char* kind);
// Whether users have registered a class, or have it in a CustomObjectScope.
bool is_registered(std::string_view name);
// The same as a T. throws: InvalidArgumentError if it is something else.
template <class T>
std::shared_ptr<T> make_object_of(const Json& identifier, std::span<const ClassRow> rows,
                                  const char* kind) {
  if (identifier.is_null()) return nullptr;
  auto made = std::dynamic_pointer_cast<T>(make_object(identifier, rows, kind));
  if (!made)
    throw InvalidArgumentError("Could not interpret " + std::string(kind) +
                               " identifier: " + identifier.dump().substr(0, 200));
  return made;
}

}  // namespace plimsoll::keras

// What Keras serialises: objects with a class name and a configuration, and the handles to them.
//
// Of everything that Keras makes by name there is a class (DenseLayer, HeNormalInitializer) and a
// handle with Keras's name (layers::Dense, initializers::HeNormal) that shares it:
//
//   auto dense = layers::Dense({.units = 10, .kernel_initializer = "he_normal"});
//   dense->get_config();
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "plimsoll/json.h"
#include "plimsoll/keras/config.h"

namespace plimsoll::keras {

class Object {
 public:
  virtual ~Object() = default;

  virtual std::string class_name() const = 0;  // "Dense"
  virtual std::string module() const = 0;      // "keras.layers"
  // "package>name" of what users registered, none for Keras's own.
  virtual std::string registered_name() const { return {}; }
  virtual Json get_config() const;

 protected:
  Object() = default;
  Object(const Object&) = default;
  Object& operator=(const Object&) = default;
  virtual void visit(ConfigVisitor&) {}
};

// {"module": ..., "class_name": ..., "config": ..., "registered_name": ...}; null for none.
Json serialize_keras_object(const Object* object);

// A row of a table of classes: how one is made of its configuration.
struct ClassRow {
  const char* class_name;  // "GlorotUniform"
  std::shared_ptr<Object> (*make)(const Json& config);
  const char* alias = nullptr;  // a name beside class_name and its snake_case form
};

template <class Impl>
std::shared_ptr<Object> make_of_config(const Json& config) {
  typename Impl::Config read;
  ConfigVisitor visitor(config, Impl::kClassName);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read));
}

namespace saving {
// Makes a class of one's own known by name to everything that reads configurations.
// throws: InvalidArgumentError if another class has the name.
using ObjectMaker = std::function<std::shared_ptr<Object>(const Json& config)>;
void register_keras_serializable(const std::string& package, const std::string& name,
                                 ObjectMaker make);
}  // namespace saving

// Classes by name that are known, before all others, while it lives, on this thread.
class CustomObjectScope {
 public:
  explicit CustomObjectScope(const std::map<std::string, saving::ObjectMaker>& objects) noexcept;
  ~CustomObjectScope();
  CustomObjectScope(const CustomObjectScope&) = delete;
  CustomObjectScope& operator=(const CustomObjectScope&) = delete;

 private:
  friend struct CustomObjects;
  const std::map<std::string, saving::ObjectMaker>& objects_;
  const CustomObjectScope* outer_;
};

// The part of a class that follows from its configuration struct C: C::kClassName is Keras's name.
template <class Base, class C>
class Configured : public Base {
 public:
  using Config = C;
  static constexpr const char* kClassName = C::kClassName;

  template <class... Args>
  explicit Configured(C config, Args&&... base)
      : Base(std::forward<Args>(base)...), config_(std::move(config)) {}
  std::string class_name() const override { return kClassName; }
  const C& config() const noexcept { return config_; }

 protected:
  void visit(ConfigVisitor& v) override { config_.visit(v); }
  C config_;
};

// A shared object of class Impl, made of its configuration.
template <class Impl>
class Ref : public std::shared_ptr<Impl> {
 public:
  Ref() : Ref(typename Impl::Config{}) {}
  Ref(typename Impl::Config config)
      : std::shared_ptr<Impl>(std::make_shared<Impl>(std::move(config))) {}
  static Ref of(std::shared_ptr<Impl> object) { return Ref(std::move(object), 0); }

 private:
  Ref(std::shared_ptr<Impl> object, int) : std::shared_ptr<Impl>(std::move(object)) {}
};

// An argument that is an object of class T, its name, its configuration, or none. T::get makes an
// object of a name or a configuration.
template <class T>
class Arg {
 public:
  Arg() noexcept = default;
  Arg(std::nullptr_t) noexcept {}
  Arg(const char* name) : ptr_(T::get(Json(name))), is_by_name_(true) {}
  Arg(const std::string& name) : ptr_(T::get(Json(name))), is_by_name_(true) {}
  Arg(const Json& config) : ptr_(T::get(config)), is_by_name_(true) {}
  template <class U>
  requires std::derived_from<U, T> Arg(std::shared_ptr<U> object)
  noexcept : ptr_(std::move(object)) {}
  template <class U>
  requires std::derived_from<U, T> Arg(const Ref<U>& object)
  noexcept : ptr_(object) {}

  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  T* operator->() const noexcept { return ptr_.get(); }
  T& operator*() const noexcept { return *ptr_; }
  T* get() const noexcept { return ptr_.get(); }
  const std::shared_ptr<T>& ptr() const noexcept { return ptr_; }
  // Whether the object was made for this argument, of a name or a configuration.
  bool is_by_name() const noexcept { return is_by_name_; }

  friend Json to_config(const Arg& arg) { return serialize_keras_object(arg.ptr_.get()); }
  friend void from_config(const Json& json, Arg& arg) { arg = json.is_null() ? Arg() : Arg(json); }

 private:
  std::shared_ptr<T> ptr_;
  bool is_by_name_ = false;
};

}  // namespace plimsoll::keras

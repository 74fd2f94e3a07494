// The loop over an expression. Included once per instruction set: no include guard.
// Operands may be the output itself, element for element; the pragma says that nothing else
// overlaps.

template <class Fn, class T>
bool run_loop(const LoopArgs& args) noexcept {
  using Out = std::conditional_t<Fn::is_test, bool, T>;
  const T* x = static_cast<const T*>(args.x);
  Out* out = static_cast<Out*>(args.out);
  const T a = static_cast<T>(args.a);
  const std::int64_t n = args.n;
  if constexpr (Fn::arity == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = Fn::apply(x[i], T(), a);
    return true;
  } else {
    const T* y = static_cast<const T*>(args.y);
    if constexpr (Fn::is_checked && std::is_integral_v<T>) {
      bool is_bad = false;
      const std::int64_t num_y = args.y_is_one ? 1 : n;
      for (std::int64_t i = 0; i < num_y; ++i) is_bad |= Fn::is_bad(T(), y[i]);
      if (is_bad) return false;
    }
    if (args.y_is_one) {
      const T value = *y;
      if (args.x_is_one) {
        const Out same = Fn::apply(*x, value, a);
        for (std::int64_t i = 0; i < n; ++i) out[i] = same;
        return true;
      }
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) out[i] = Fn::apply(x[i], value, a);
    } else if (args.x_is_one) {
      const T value = *x;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) out[i] = Fn::apply(value, y[i], a);
    } else {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) out[i] = Fn::apply(x[i], y[i], a);
    }
    return true;
  }
}
template <class Fn, class Types, class T>
constexpr Loop loop_for() noexcept {
  if constexpr (Types::template has<T>) {
    return run_loop<Fn, T>;
  } else {
    return nullptr;
  }
}

// The loop over an expression. Included once per instruction set: no include guard.
// Operands may be the output itself, element for element; the pragma says that nothing else
// overlaps.

// A function of float that holds up to a limit: blocks with larger operands are computed in double.
template <class Fn>
void run_limited(const float* x, float* out, std::int64_t n) noexcept {
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    std::int32_t num_large = 0;
    for (std::int64_t i = begin; i < end; ++i)
      num_large += scalar::abs_of(x[i]) <= scalar::kMaxOperand<Fn> ? 0 : 1;
    if (num_large == 0) {
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) out[i] = Fn::apply(x[i], 0.0F, 0.0F);
    } else {
      for (std::int64_t i = begin; i < end; ++i)
        out[i] = static_cast<float>(Fn::apply(static_cast<double>(x[i]), 0.0, 0.0));
    }
  }
}

template <class Fn, class T>
bool run_loop(const LoopArgs& args) noexcept {
  using Out = std::conditional_t<Fn::is_test, bool, T>;
  const T* x = static_cast<const T*>(args.x);
  Out* out = static_cast<Out*>(args.out);
  const T a = static_cast<T>(args.a);
  const std::int64_t n = args.n;
  if constexpr (std::is_same_v<T, float> && scalar::kMaxOperand < Fn >> 0) {
    run_limited<Fn>(x, out, n);
    return true;
  } else if constexpr (Fn::arity == 1) {
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

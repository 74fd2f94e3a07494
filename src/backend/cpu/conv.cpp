#include "backend/cpu/conv.h"

#include "backend/cpu/bias_activation.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/elementwise_loops.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"
#include "base/check.h"

namespace plimsoll::cpu {
namespace {

// Of images that are converted at a time.
constexpr std::int64_t kStagedBytes = 16 << 20, kFewStagedBytes = 256 << 10;

// Elements of [0, n) from T to C or back.
template <class From, class To>
void convert(const From* from, std::int64_t n, To* to) noexcept {
  parallel_for(n, 65536, [&](std::int64_t begin, std::int64_t end) {
    if constexpr (!std::is_same_v<From, compute_t<From>>) {
      converter_of(dtype_of<From>).widen(from + begin, to + begin, end - begin);
    } else if constexpr (!std::is_same_v<To, compute_t<To>>) {
      converter_of(dtype_of<To>).narrow(from + begin, to + begin, end - begin);
    } else {
      for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
    }
  });
}

// Images between our layouts: `rows` x `columns` transposed, for each image; tile by tile.
template <class From, class To>
void transpose(const From* from, std::int64_t num, std::int64_t rows, std::int64_t columns,
               To* to) noexcept {
  constexpr std::int64_t kTile = 32;
  const std::int64_t bands = (rows + kTile - 1) / kTile;
  parallel_for(num * bands, std::max<std::int64_t>(1, 2048 / std::max<std::int64_t>(columns, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t band = begin; band < end; ++band) {
                   const std::int64_t image = band / bands * rows * columns;
                   const std::int64_t r0 = band % bands * kTile;
                   const std::int64_t r1 = std::min(rows, r0 + kTile);
                   for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
                     const std::int64_t c1 = std::min(columns, c0 + kTile);
                     for (std::int64_t c = c0; c < c1; ++c) {
                       for (std::int64_t r = r0; r < r1; ++r)
                         to[image + c * rows + r] = static_cast<To>(from[image + r * columns + c]);
                     }
                   }
                 }
               });
}

template <class T, class C>
void to_nhwc(const T* from, const ImageShape& image, DataFormat format, C* to) noexcept {
  const std::int64_t pixels = image.pixels();
  if (format == DataFormat::kNhwc) {
    convert(from, image.n * pixels * image.c, to);
  } else {
    transpose(from, image.n, image.c, pixels, to);
  }
}
template <class C, class T>
void from_nhwc(const C* from, const ImageShape& image, DataFormat format, T* to) noexcept {
  const std::int64_t pixels = image.pixels();
  if (format == DataFormat::kNhwc) {
    convert(from, image.n * pixels * image.c, to);
  } else {
    transpose(from, image.n, pixels, image.c, to);
  }
}

// The most images at a time that divide the batch and stay below the limit, at least one.
std::int64_t images_at_a_time(std::int64_t n, std::int64_t bytes_each,
                              std::int64_t limit_bytes) noexcept {
  std::int64_t images = n;
  while (images > 1 && (n % images != 0 || images * bytes_each > limit_bytes)) --images;
  return images;
}
// Wider copies of all images would cost what 16 bits save. Engines turn the filter into their own
// layout each time, which has to pay.
std::int64_t widened_limit(std::int64_t image_bytes, std::int64_t filter_bytes) noexcept {
  return std::clamp(std::max(image_bytes / 8, filter_bytes), kFewStagedBytes, kStagedBytes);
}

ConvPass pass_of(OpId op) noexcept {
  switch (op) {
    case OpId::Conv2DBackpropInput:
    case OpId::DepthwiseConv2DBackpropInput:
    case OpId::Conv3DBackpropInput:
      return ConvPass::kToInput;
    case OpId::Conv2DBackpropFilter:
    case OpId::DepthwiseConv2DBackpropFilter:
    case OpId::Conv3DBackpropFilter:
      return ConvPass::kToFilter;
    default:
      return ConvPass::kForward;
  }
}

// Engines for float, the fastest first. Clears `has_bias` if the engine adds it.
ConvEnginePtr<float> make_float_engine(const ConvShape& shape, ConvPass pass, bool& has_bias,
                                       ScratchBook& book) {
  if (winograd_conv_pays(shape)) return make_winograd_conv(shape, pass, book);
  if (product_conv_pays(shape, pass)) return make_product_conv<float>(shape, book);
  if (unfolded_conv_pays(shape, pass)) return make_unfolded_conv(shape, book);
  auto engine = make_onednn_conv<float>(shape, pass, has_bias, book);
  has_bias = false;
  return engine;
}

template <class C>
ConvEnginePtr<C> make_engine(const ConvShape& shape, ConvPass pass, bool& has_bias,
                             ScratchBook& book) {
  if constexpr (std::is_same_v<C, float>) {
    try {
      ScratchBook trial = book;
      auto engine = make_float_engine(shape, pass, has_bias, trial);
      book = trial;
      return engine;
    } catch (const UnimplementedError&) {  // our own kernels take any shape
    }
  }
  return shape.kind == ConvKind::kDepthwise ? make_depthwise_conv<C>(shape, pass)
                                            : make_direct_conv<C>(shape, pass, book);
}

// On images in bfloat16 as they are; none if oneDNN has no kernel for them.
ConvEnginePtr<BFloat16> try_native_engine(const ConvShape& shape, ConvPass pass,
                                          ScratchBook& book) {
  if (shape.format != DataFormat::kNhwc) return nullptr;
  try {
    ScratchBook trial = book;
    auto engine = product_conv_pays(shape, pass)
                      ? make_product_conv<BFloat16>(shape, trial)
                      : make_onednn_conv<BFloat16>(shape, pass, false, trial);
    book = trial;
    return engine;
  } catch (const UnimplementedError&) {
    return nullptr;
  }
}

// A convolution of storage type T, computed in C, or natively.
template <class T>
struct ConvState final : KernelState {
  using C = compute_t<T>;
  static constexpr bool kWidens = !std::is_same_v<T, C>;

  ConvState(const KernelCall& call, ScratchBook& book)
      : shape(conv_shape(call.op, call.in, call.attrs)), pass(pass_of(call.op)) {
    const ImageShape in = shape.in_image(), out = shape.out_image();
    image_size = in.pixels() * in.c;
    out_size = out.pixels() * out.c;
    filter_size = shape.taps() * shape.group_in() * shape.out_c;
    is_empty = in.n * image_size == 0 || out.n * out_size == 0;
    if (call.op == OpId::Conv2DBias) {
      PLIMSOLL_CHECK(!is_empty || out.n * out_size == 0, UnimplementedError,
                     "Conv2DBias of an image without elements");
      has_bias = true;
      activation = static_cast<Activation>(call.attrs[attr::Conv2DBias::activation].as_int());
    }
    if (is_empty) return;
    if constexpr (std::is_same_v<T, BFloat16>) {
      native = try_native_engine(shape, pass, book);
      if (native) return;
    }
    stages_images = kWidens || shape.format == DataFormat::kNchw;
    const auto c_bytes = static_cast<std::int64_t>(sizeof(C));
    const std::int64_t bytes_each = (image_size + out_size) * c_bytes;
    const std::int64_t limit =
        kWidens ? widened_limit(shape.n * bytes_each, filter_size * c_bytes) : kStagedBytes;
    chunk = stages_images ? images_at_a_time(shape.n, bytes_each, limit) : shape.n;
    const auto slot = [&](bool needed, std::int64_t elements) {
      return needed ? book.book(static_cast<std::uint64_t>(elements * c_bytes)) : -1;
    };
    image_slot = slot(stages_images, chunk * image_size);
    out_slot = slot(stages_images, chunk * out_size);
    const bool adds_up = pass == ConvPass::kToFilter && chunk < shape.n;
    filter_slot = slot(kWidens || adds_up, filter_size);
    sum_slot = slot(kWidens && adds_up, filter_size);
    first_engine_slot = book.num_slots();
    ConvShape part = shape;
    part.n = chunk;
    engine = make_engine<C>(part, pass, has_bias, book);
  }

  std::uint64_t nbytes() const noexcept override { return 128 << 10; }

  ConvShape shape;
  ConvPass pass;
  std::int64_t image_size, out_size, filter_size;  // elements; of one image
  std::int64_t chunk = 0;                          // images at a time
  bool is_empty;
  bool stages_images = false;
  int image_slot = -1, out_slot = -1, filter_slot = -1, sum_slot = -1, first_engine_slot = 0;
  ConvEnginePtr<C> engine;
  ConvEnginePtr<T> native;  // instead of it
  bool has_bias = false;    // that the engine does not add
  Activation activation = Activation::kNone;
};

// One call on its way through the chunks of its batch.
template <class T>
class ConvRun {
 public:
  using C = compute_t<T>;

  explicit ConvRun(const RunArgs& args) noexcept
      : s_(*static_cast<const ConvState<T>*>(args.state)), args_(args) {
    image_ = pass() == ConvPass::kToInput ? args.out[0].as<T>() : args.in[0].as<T>();
    filter_ = pass() == ConvPass::kForward   ? args.in[1].as<T>()
              : pass() == ConvPass::kToInput ? args.in[0].as<T>()
                                             : args.out[0].as<T>();
    out_ = pass() == ConvPass::kForward ? args.out[0].as<T>() : args.in[1].as<T>();
  }

  Status run() const noexcept {
    if (s_.is_empty) {
      std::fill_n(args_.out[0].template as<T>(), args_.call.out[0].shape.num_elements(), T(0));
      return {};
    }
    if constexpr (ConvState<T>::kWidens) {
      if (s_.native) return s_.native->run(image_, filter_, out_, nullptr, args_.scratch);
    }
    C* filter = staged(s_.filter_slot, filter_);
    if (pass() != ConvPass::kToFilter && s_.filter_slot >= 0)
      convert(filter_, s_.filter_size, filter);
    C* sum = staged(s_.sum_slot, filter_);  // that of the chunks' filter gradients
    for (std::int64_t first = 0; first < s_.shape.n; first += s_.chunk) {
      const Status status = run_chunk(first, filter);
      if (!status.ok()) return status;
      if (pass() == ConvPass::kToFilter && s_.chunk < s_.shape.n) add(filter, first == 0, sum);
    }
    if constexpr (ConvState<T>::kWidens) {
      if (pass() == ConvPass::kToFilter)
        convert(s_.sum_slot >= 0 ? sum : filter, s_.filter_size, filter_);
    }
    return {};
  }

 private:
  ConvPass pass() const noexcept { return s_.pass; }

  // The slot's memory, or the operand itself where it needs no staging.
  C* staged(int slot, T* operand) const noexcept {
    if (slot >= 0) return args_.scratch[static_cast<std::size_t>(slot)].template as<C>();
    if constexpr (ConvState<T>::kWidens) {
      return nullptr;
    } else {
      return operand;
    }
  }

  Status run_chunk(std::int64_t first, C* filter) const noexcept {
    T* image_at = image_ + first * s_.image_size;
    T* out_at = out_ + first * s_.out_size;
    ImageShape in = s_.shape.in_image(), out = s_.shape.out_image();
    in.n = out.n = s_.chunk;
    C* image_c = staged(s_.image_slot, image_at);
    C* out_c = staged(s_.out_slot, out_at);
    if (s_.stages_images) {
      if (pass() != ConvPass::kToInput) to_nhwc(image_at, in, s_.shape.format, image_c);
      if (pass() != ConvPass::kForward) to_nhwc(out_at, out, s_.shape.format, out_c);
    }
    const C* bias = args_.in.size() > 2 ? args_.in[2].template as<const C>() : nullptr;
    const Status status =
        s_.engine->run(image_c, filter, out_c, bias,
                       args_.scratch.subspan(static_cast<std::size_t>(s_.first_engine_slot)));
    if (!status.ok()) return status;
    const std::int64_t num_rows = out.n * out.pixels();
    if (s_.has_bias) {
      add_bias_and_activate(dtype_of<C>, out_c, num_rows, out.c, bias, s_.activation);
    } else {
      activate(dtype_of<C>, out_c, num_rows * out.c, s_.activation);
    }
    if (!s_.stages_images) return status;
    if (pass() == ConvPass::kForward) from_nhwc(out_c, out, s_.shape.format, out_at);
    if (pass() == ConvPass::kToInput) from_nhwc(image_c, in, s_.shape.format, image_at);
    return status;
  }

  void add(const C* part, bool is_first, C* sum) const noexcept {
    parallel_for(s_.filter_size, 65536, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sum[i] = is_first ? part[i] : sum[i] + part[i];
    });
  }

  const ConvState<T>& s_;
  const RunArgs& args_;
  T *image_, *filter_, *out_;
};

template <class F>
void visit_float(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) f(tag);
  });
}

KernelStatePtr prepare_conv(const KernelCall& call, ScratchBook& book) {
  KernelStatePtr state;
  visit_float(call.in[0].dtype, [&](auto tag) {
    state = std::make_shared<ConvState<typename decltype(tag)::type>>(call, book);
  });
  return state;
}

Status run_conv(const RunArgs& args) noexcept {
  Status status;
  visit_float(args.call.in[0].dtype,
              [&](auto tag) { status = ConvRun<typename decltype(tag)::type>(args).run(); });
  return status;
}

constexpr KernelDef row(OpId op) {
  return {.op = op, .dtypes = kFloats, .prepare = prepare_conv, .run = run_conv};
}
const KernelDef kRows[] = {
    row(OpId::Conv2D),
    {.op = OpId::Conv2DBias, .dtypes = kWideFloats, .prepare = prepare_conv, .run = run_conv},
    row(OpId::Conv2DBackpropInput),
    row(OpId::Conv2DBackpropFilter),
    row(OpId::DepthwiseConv2D),
    row(OpId::DepthwiseConv2DBackpropInput),
    row(OpId::DepthwiseConv2DBackpropFilter),
    row(OpId::Conv3D),
    row(OpId::Conv3DBackpropInput),
    row(OpId::Conv3DBackpropFilter),
};

}  // namespace

std::span<const KernelDef> conv_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu

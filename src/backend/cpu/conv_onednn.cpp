#include <optional>

#include "backend/cpu/conv.h"
#include "backend/cpu/onednn.h"

namespace plimsoll::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

// How oneDNN sees a call: dimensions in its order, strides of our layouts.
struct Descs {
  memory::desc image, filter, out;  // `filter` as TensorFlow lays it out: HWIO
  memory::desc packed;              // in the layout that oneDNN likes
  memory::dims strides, dilations, pad_before, pad_after;

  Descs(const ConvShape& s, memory::data_type type) {
    const auto nhwc = [type](const ImageShape& i) {
      const std::int64_t image_step = i.pixels() * i.c, plane_step = i.h * i.w * i.c;
      if (i.is_3d) {
        return onednn_desc({i.n, i.c, i.d, i.h, i.w}, {image_step, 1, plane_step, i.w * i.c, i.c},
                           type);
      }
      return onednn_desc({i.n, i.c, i.h, i.w}, {image_step, 1, i.w * i.c, i.c}, type);
    };
    image = nhwc(s.in_image());
    out = nhwc(s.out_image());
    const std::int64_t gi = s.group_in(), go = s.group_out();
    memory::dims dims{go, gi, s.h.size, s.w.size};
    memory::dims steps{1, s.out_c, s.w.size * gi * s.out_c, gi * s.out_c};
    if (s.is_3d()) {
      dims.insert(dims.begin() + 2, s.d.size);
      steps.insert(steps.begin() + 2, s.h.size * s.w.size * gi * s.out_c);
    }
    if (s.groups > 1) {
      dims.insert(dims.begin(), s.groups);
      steps.insert(steps.begin(), go);
    }
    filter = onednn_desc(dims, steps, type);
    packed = onednn_desc(dims, {}, type);
    strides = {s.h.stride, s.w.stride};
    dilations = {s.h.dilation - 1, s.w.dilation - 1};
    pad_before = {s.h.pad_before, s.w.pad_before};
    pad_after = {s.h.pad_after, s.w.pad_after};
    if (!s.is_3d()) return;
    strides.insert(strides.begin(), s.d.stride);
    dilations.insert(dilations.begin(), s.d.dilation - 1);
    pad_before.insert(pad_before.begin(), s.d.pad_before);
    pad_after.insert(pad_after.begin(), s.d.pad_after);
  }
};

template <class T>
class OneDnnConv final : public ConvEngine<T> {
 public:
  OneDnnConv(const ConvShape& shape, ConvPass pass, bool has_bias, ScratchBook& book)
      : pass_(pass), has_bias_(has_bias) {
    const Descs d(shape, kOneDnnType<T>);
    const memory::desc bias =
        has_bias ? onednn_desc({shape.out_c}, {1}, kOneDnnType<T>) : memory::desc();
    const auto forward = [&] {
      return dnnl::convolution_forward::primitive_desc(
          onednn_engine(), prop_kind::forward_training, algorithm::convolution_direct, d.image,
          d.packed, bias, d.out, d.strides, d.dilations, d.pad_before, d.pad_after, onednn_attr());
    };
    switch (pass) {
      case ConvPass::kForward: {
        auto desc = forward();
        skip_unfit(desc);
        std::vector<OneDnnCall::Operand> operands{{DNNL_ARG_SRC, d.image},
                                                  {DNNL_ARG_WEIGHTS, desc.weights_desc()},
                                                  {DNNL_ARG_DST, d.out}};
        if (has_bias) operands.push_back({DNNL_ARG_BIAS, bias});
        set_up(desc, desc.weights_desc(), d, book, std::move(operands));
        break;
      }
      case ConvPass::kToInput: {
        const auto hint = forward();  // looked at until the last implementation was passed over
        dnnl::convolution_backward_data::primitive_desc desc(
            onednn_engine(), algorithm::convolution_direct, d.image, d.packed, d.out, d.strides,
            d.dilations, d.pad_before, d.pad_after, hint, onednn_attr());
        skip_unfit(desc);
        set_up(desc, desc.weights_desc(), d, book,
               {{DNNL_ARG_DIFF_SRC, d.image},
                {DNNL_ARG_WEIGHTS, desc.weights_desc()},
                {DNNL_ARG_DIFF_DST, d.out}});
        break;
      }
      case ConvPass::kToFilter: {
        const auto hint = forward();
        dnnl::convolution_backward_weights::primitive_desc desc(
            onednn_engine(), algorithm::convolution_direct, d.image, d.packed, d.out, d.strides,
            d.dilations, d.pad_before, d.pad_after, hint, onednn_attr());
        skip_unfit(desc);
        set_up(desc, desc.diff_weights_desc(), d, book,
               {{DNNL_ARG_SRC, d.image},
                {DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc()},
                {DNNL_ARG_DIFF_DST, d.out}});
        break;
      }
    }
  }

  Status run(T* image, T* filter, T* out, const T* bias,
             std::span<const DeviceSpan> scratch) const noexcept override {
    void* pad = scratch[0].as<void>();
    const auto convolve = [&](void* weights) {
      if (has_bias_) return conv_->run({image, weights, out, const_cast<T*>(bias), pad});
      return conv_->run({image, weights, out, pad});
    };
    if (!repack_) return convolve(filter);
    void* packed = scratch[1].as<void>();
    if (pass_ != ConvPass::kToFilter) {
      const Status status = repack_->run({filter, packed, scratch[2].as<void>()});
      return status.ok() ? convolve(packed) : status;
    }
    const Status status = convolve(packed);
    return status.ok() ? repack_->run({packed, filter, scratch[2].as<void>()}) : status;
  }

 private:
  template <class PrimitiveDesc>
  void set_up(const PrimitiveDesc& desc, const memory::desc& packed, const Descs& d,
              ScratchBook& book, std::vector<OneDnnCall::Operand> operands) {
    operands.push_back({DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()});
    book.book(desc.scratchpad_desc().get_size());
    conv_.emplace(dnnl::primitive(desc.get()), std::move(operands));
    if (packed == d.filter) return;
    const bool to_packed = pass_ != ConvPass::kToFilter;
    repack_ =
        to_packed ? onednn_reorder(d.filter, packed, book) : onednn_reorder(packed, d.filter, book);
  }

  ConvPass pass_;
  bool has_bias_;
  std::optional<OneDnnCall> conv_, repack_;
};

}  // namespace

template <class T>
ConvEnginePtr<T> make_onednn_conv(const ConvShape& shape, ConvPass pass, bool has_bias,
                                  ScratchBook& book) {
  return onednn_try([&]() -> ConvEnginePtr<T> {
    return std::make_unique<OneDnnConv<T>>(shape, pass, has_bias, book);
  });
}
template ConvEnginePtr<float> make_onednn_conv(const ConvShape&, ConvPass, bool, ScratchBook&);
template ConvEnginePtr<BFloat16> make_onednn_conv(const ConvShape&, ConvPass, bool, ScratchBook&);

}  // namespace plimsoll::cpu

// Convolutions on images in NHWC, in the type that is computed: what conv.cpp stands on. Other
// types and layouts are brought there in planned scratch, a few images at a time; bfloat16 in NHWC
// stays as it is where oneDNN takes it.
#pragma once

#include <memory>

#include "backend/api/kernel.h"
#include "ops/conv_shape.h"

namespace plimsoll::cpu {

enum class ConvPass { kForward, kToInput, kToFilter };

// One way to compute a pass. `image` and `out` are the convolution's input and output or their
// gradients, `filter` likewise; which of the three is written depends on the pass.
template <class C>
class ConvEngine {
 public:
  virtual ~ConvEngine() = default;
  // `scratch`: the slots that the maker booked, in order. `bias` is for engines that were made with
  // one.
  virtual Status run(C* image, C* filter, C* out, const C* bias,
                     std::span<const DeviceSpan> scratch) const noexcept = 0;
};
template <class C>
using ConvEnginePtr = std::unique_ptr<const ConvEngine<C>>;

// oneDNN, for float and BFloat16; repacks the filter into its own layout. throws:
// UnimplementedError if it has no fit kernel.
template <class T>
ConvEnginePtr<T> make_onednn_conv(const ConvShape& shape, ConvPass pass, bool has_bias,
                                  ScratchBook& book);

// The gradient by the filter as products of matrices, and whether that is the faster way.
// throws: UnimplementedError if oneDNN has no fit kernel.
bool product_conv_pays(const ConvShape& shape, ConvPass pass) noexcept;
template <class T>
ConvEnginePtr<T> make_product_conv(const ConvShape& shape, ScratchBook& book);

// The gradient by the filter for images of few channels, and whether that is the better way.
bool unfolded_conv_pays(const ConvShape& shape, ConvPass pass) noexcept;
ConvEnginePtr<float> make_unfolded_conv(const ConvShape& shape, ScratchBook& book);

// 3x3 convolutions in fewer multiplications (winograd_tiles.h), likewise.
bool winograd_conv_pays(const ConvShape& shape) noexcept;
ConvEnginePtr<float> make_winograd_conv(const ConvShape& shape, ConvPass pass, ScratchBook& book);

// Products of rows of the image with taps of the filter (gemm.h); any shape.
template <class C>
ConvEnginePtr<C> make_direct_conv(const ConvShape& shape, ConvPass pass, ScratchBook& book);

// One filter per channel, vectorised over channels.
template <class C>
ConvEnginePtr<C> make_depthwise_conv(const ConvShape& shape, ConvPass pass);

}  // namespace plimsoll::cpu

#include "plimsoll/ops/pool.h"
#include "runtime/dispatch.h"
#include "runtime/window_args.h"

namespace plimsoll::nn {

Tensor max_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return call(OpId::MaxPool2D, {input},
              window_attrs(strides, padding, data_format, ksize, "ksize"));
}
Tensor max_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format) {
  return max_pool2d(input, ksize, strides, padding, data_format);
}

Tensor avg_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return call(OpId::AvgPool2D, {input},
              window_attrs(strides, padding, data_format, ksize, "ksize"));
}
Tensor avg_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format) {
  return avg_pool2d(input, ksize, strides, padding, data_format);
}

}  // namespace plimsoll::nn

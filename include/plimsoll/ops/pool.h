// Pooling.
#pragma once

#include "plimsoll/ops/conv.h"

namespace plimsoll::nn {

// The largest element of each window; `ksize` is the window's size. A nan stays a nan.
Tensor max_pool1d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NWC");
Tensor max_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NHWC");
Tensor max_pool3d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NDHWC");
// By the rank of the input: series (3), images (4) or volumes (5); without a format, channels last.
// All of a picture at once is a reduction: reduce_max(input, {1, 2}, true).
Tensor max_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format = "");

// The mean of the elements of each window that lie inside the image.
Tensor avg_pool1d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NWC");
Tensor avg_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NHWC");
Tensor avg_pool3d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format = "NDHWC");
// By the rank, as max_pool; all at once is reduce_mean(input, {1, 2}, true).
Tensor avg_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format = "");

}  // namespace plimsoll::nn

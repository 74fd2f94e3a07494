#include "backend/cpu/cpu.h"

namespace plimsoll::cpu {

Backend make_backend() {
  return {.name = "cpu",
          .tables = {create_kernels(),   elementwise_kernels(), fused_kernels(),
                     reduce_kernels(),   reduce_scan_kernels(), shape_kernels(),
                     matmul_kernels(),   linalg_kernels(),      linalg_decompose_kernels(),
                     conv_kernels(),     pool_kernels(),        norm_kernels(),
                     rnn_kernels(),      softmax_kernels(),     attention_kernels(),
                     gather_kernels(),   segment_kernels(),     search_kernels(),
                     resize_kernels(),   random_kernels(),      random_distribution_kernels(),
                     debugging_kernels()}};
}

}  // namespace plimsoll::cpu

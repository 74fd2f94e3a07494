#include "backend/cpu/cpu.h"

namespace plimsoll::cpu {

std::span<const KernelDef> conv_kernels() {
  return {};
}

}  // namespace plimsoll::cpu

#include "backend/cpu/cpu.h"

namespace plimsoll::cpu {

std::span<const KernelDef> pool_kernels() {
  return {};
}

}  // namespace plimsoll::cpu

#include "backend/cpu/cpu.h"

namespace plimsoll::cpu {

std::span<const KernelDef> gather_kernels() {
  return {};
}

}  // namespace plimsoll::cpu

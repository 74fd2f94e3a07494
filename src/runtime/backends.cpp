#include "runtime/backends.h"

#include "backend/cpu/cpu.h"

namespace plimsoll {

const KernelTable& cpu_kernels() {
  static const KernelTable& table = *new KernelTable(cpu::make_backend());
  return table;
}

}  // namespace plimsoll

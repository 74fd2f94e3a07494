// The backends of this build; the only place that knows them by name.
#pragma once

#include "backend/api/kernel.h"

namespace plimsoll {

const KernelTable& cpu_kernels();

}  // namespace plimsoll

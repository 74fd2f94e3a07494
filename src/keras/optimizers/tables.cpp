#include "keras/optimizers/tables.h"

#include "plimsoll/keras/optimizers.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kOptimizers[] = {
    {"SGD", make_optimizer_of_config<SGDOptimizer>},
    {"Adam", make_optimizer_of_config<AdamOptimizer>},
};

}  // namespace

std::span<const ClassRow> optimizer_rows() {
  return kOptimizers;
}

}  // namespace plimsoll::keras

#include "keras/optimizers/tables.h"

#include "plimsoll/keras/optimizers.h"

namespace plimsoll::keras {
namespace {

// Its configuration has nothing of what others share.
std::shared_ptr<Object> make_loss_scale_optimizer(const Json& config) {
  LossScaleOptimizerConfig read;
  OptimizerOptions options;
  ConfigVisitor v(config, LossScaleOptimizerConfig::kClassName);
  v("name", options.name);
  read.visit(v);
  v.finish();
  return std::make_shared<LossScaleOptimizer>(std::move(read), std::move(options));
}

constexpr ClassRow kOptimizers[] = {
    {"SGD", make_optimizer_of_config<SGDOptimizer>},
    {"Adam", make_optimizer_of_config<AdamOptimizer>},
    {"AdamW", make_optimizer_of_config<AdamWOptimizer>},
    {"Nadam", make_optimizer_of_config<NadamOptimizer>},
    {"Adamax", make_optimizer_of_config<AdamaxOptimizer>},
    {"RMSprop", make_optimizer_of_config<RMSpropOptimizer>},
    {"Adagrad", make_optimizer_of_config<AdagradOptimizer>},
    {"Adadelta", make_optimizer_of_config<AdadeltaOptimizer>},
    {"Ftrl", make_optimizer_of_config<FtrlOptimizer>},
    {"Lion", make_optimizer_of_config<LionOptimizer>},
    {"Adafactor", make_optimizer_of_config<AdafactorOptimizer>},
    {"Lamb", make_optimizer_of_config<LambOptimizer>},
    {"Muon", make_optimizer_of_config<MuonOptimizer>},
    {"ScheduleFreeAdamW", make_optimizer_of_config<ScheduleFreeAdamWOptimizer>},
    {"LossScaleOptimizer", make_loss_scale_optimizer},
};

}  // namespace

std::span<const ClassRow> optimizer_rows() {
  return kOptimizers;
}

}  // namespace plimsoll::keras

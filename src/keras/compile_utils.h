// The losses and metrics of compile, for each output of a model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

// Outputs of a model by name, in order: a dictionary's keys, else `names`, else "output_1", ...
struct NamedOutputs {
  std::vector<std::string> names;
  std::vector<Tensor> values;
};
NamedOutputs name_outputs(const Nested& y_pred, const std::vector<std::string>& names);

// What belongs to each output, in their order: by key from a dictionary, by position from a list,
// the same for all from a single tensor. Empty tensors where there is none.
// throws: InvalidArgumentError that names `what` if the numbers differ.
std::vector<Tensor> match_outputs(const Nested& given, const NamedOutputs& outputs,
                                  const char* what);

class CompileLoss {
 public:
  CompileLoss(LossSpec loss, Nest<double> weights)
      : spec_(std::move(loss)), weights_(std::move(weights)) {}

  // The weighted sum; an empty Tensor if there is no loss for any output.
  Tensor operator()(const Nested& y, const NamedOutputs& outputs, const Nested& sample_weight);
  // Means of single losses, where there are several: "a_loss", "b_loss".
  const std::vector<std::shared_ptr<MeanMetric>>& metrics() const noexcept { return trackers_; }
  bool has_loss() const noexcept { return !spec_.is_none(); }

 private:
  void build(const NamedOutputs& outputs);

  LossSpec spec_;
  Nest<double> weights_;
  bool is_built_ = false;
  std::vector<LossArg> losses_;               // by output
  std::vector<std::optional<double>> scale_;  // by output
  std::vector<std::shared_ptr<MeanMetric>> trackers_;
};

class CompileMetrics {
 public:
  CompileMetrics(MetricSpec metrics, MetricSpec weighted);

  void update_state(const Nested& y, const NamedOutputs& outputs, const Nested& sample_weight);
  // By the names of logs; built at the first update.
  struct Row {
    std::string name;  // "accuracy", "head_accuracy"
    MetricPtr metric;
    std::size_t output;
    bool is_weighted;
  };
  const std::vector<Row>& rows() const noexcept { return rows_; }

 private:
  void build(const std::vector<Tensor>& y, const NamedOutputs& outputs);
  void add_rows(const MetricSpec& spec, bool is_weighted, const std::vector<Tensor>& y,
                const NamedOutputs& outputs, const char* what);
  void add_row(const MetricSpecItem& item, std::size_t output, bool is_weighted,
               const std::vector<Tensor>& y, const NamedOutputs& outputs);

  MetricSpec spec_, weighted_;
  bool is_built_ = false;
  std::vector<Row> rows_;
};

}  // namespace plimsoll::keras

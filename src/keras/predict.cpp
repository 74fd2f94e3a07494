#include <cstring>

#include "base/check.h"
#include "keras/callback_list.h"
#include "keras/feed.h"
#include "keras/progress.h"
#include "keras/trainer.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::keras {
namespace {

// Results of batches joined along the first axis. Where it is known how many rows there will be,
// they are written where they belong at once.
class Joined {
 public:
  explicit Joined(std::int64_t num_rows) : num_rows_(num_rows) {}

  void add(const Nested& batch) {
    if (layout_.is_none()) {
      int next = 0;
      layout_ = batch.map([&](const Value&) { return next++; });
      parts_.resize(static_cast<std::size_t>(next));
    }
    std::size_t i = 0;
    batch.for_each([&](const Value& v) { add_one(parts_[i++], v.tensor()); });
  }
  Nested take() {
    return layout_.map([&](int i) {
      Part& part = parts_[static_cast<std::size_t>(i)];
      if (part.whole.is_valid()) return Value(part.whole);
      return Value(part.pieces.size() == 1 ? part.pieces[0] : concat(part.pieces, 0));
    });
  }

 private:
  struct Part {
    Tensor whole;  // of num_rows_ rows, filled from the front
    std::int64_t num_filled = 0;
    std::vector<Tensor> pieces;  // where that is not possible
  };

  void add_one(Part& part, const Tensor& piece) {
    Device& cpu = Context::get().cpu();
    const bool is_simple = num_rows_ > 0 && piece.rank() > 0 && piece.dtype() != DType::kString &&
                           owner_of(piece) == &cpu;
    if (is_simple && !part.whole.is_valid() && part.pieces.empty()) {
      std::vector<std::int64_t> dims(piece.shape().dims().begin(), piece.shape().dims().end());
      if (dims[0] == num_rows_) {
        part.whole = piece;  // all of it
        part.num_filled = num_rows_;
        return;
      }
      dims[0] = num_rows_;
      part.whole = allocate_tensor(cpu, piece.dtype(), Shape(dims),
                                   memory::Owner(memory::Tag::kActivations, "predictions"));
    }
    const bool fits =
        part.whole.is_valid() && part.num_filled + piece.shape()[0] <= part.whole.shape()[0] &&
        piece.nbytes() * part.whole.shape()[0] == part.whole.nbytes() * piece.shape()[0];
    PLIMSOLL_CHECK(fits || !part.whole.is_valid(), InvalidArgumentError,
                   "predictions of a batch have shape {}, which does not go with {}",
                   piece.shape().to_string(), part.whole.shape().to_string());
    if (!fits) {
      part.pieces.push_back(piece);
      return;
    }
    const std::int64_t row = part.whole.nbytes() / part.whole.shape()[0];
    const auto bytes = [](const Tensor& t) {
      return static_cast<std::uint8_t*>(t.impl()->buffer->block.data()) + t.impl()->offset;
    };
    std::memcpy(bytes(part.whole) + part.num_filled * row, bytes(piece),
                static_cast<std::size_t>(piece.nbytes()));
    part.num_filled += piece.shape()[0];
  }

  const std::int64_t num_rows_;  // -1: not known
  Nest<int> layout_;
  std::vector<Part> parts_;
};

Nested run_predict(Model& model, const Feed& feed, const PredictOptions& options) {
  TrainerState& state = predictor_of(model);
  const auto steps = options.steps ? options.steps : feed.num_batches;
  Progress progress(options.verbose, steps);
  CallbackList callbacks(options.callbacks, nullptr, model,
                         Json::object({{"steps", steps ? Json(*steps) : Json()}}));
  callbacks.on_predict_begin({});
  Joined joined(options.steps ? -1 : feed.num_rows);
  const auto run = feed.batches.make_iterator();
  std::int64_t step = 0;
  // Without a number of steps, until the end has come: caches want to see it.
  while (!options.steps || step < *options.steps) {
    auto element = run->next();
    if (!element) break;
    const Nested batch = to_batch(*element);
    element.reset();
    callbacks.on_predict_batch_begin(step, {});
    const Nested inputs = Nested::List{batch[0], Nested(), Nested()};
    if (step == 0) state.step_for(model, StepKind::kPredict, inputs);
    joined.add(state.run_predict(model, inputs));
    callbacks.on_predict_batch_end(step, {});
    progress.update(++step, {}, 0);
  }
  PLIMSOLL_CHECK(step > 0, InvalidArgumentError, "predict of model '{}' got no batches",
                 model.name());
  progress.end({}, 0);
  callbacks.on_predict_end({});
  return joined.take();
}

}  // namespace

Nested Model::predict(const Nested& x, const PredictOptions& options) {
  return run_predict(*this, feed_of_arrays(x, {}, {}, {.batch_size = options.batch_size}), options);
}
Nested Model::predict(const data::Dataset& dataset, const PredictOptions& options) {
  return run_predict(*this, feed_of_dataset(dataset), options);
}

}  // namespace plimsoll::keras

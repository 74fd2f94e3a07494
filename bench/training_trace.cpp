#include "training_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "memory_random.h"
#include "plimsoll/bytes.h"

namespace plimsoll::bench {
namespace {

using memory::Tag;
using memory::Trace;
using memory::TraceEvent;
using Kind = TraceEvent::Kind;

constexpr std::uint64_t kSmallest = 1_KiB;
constexpr std::uint64_t kLargest = 256_MiB;
constexpr std::uint64_t kMicrosecondsPerEvent = 10;

constexpr std::uint64_t kBlocks = 8;
constexpr std::uint64_t kWidth = 1024;
constexpr std::uint64_t kHeads = 16;
constexpr std::uint64_t kPositions = 3072;    // of a batch, at most
constexpr std::uint64_t kLargestBatch = 128;  // sequences
constexpr std::uint64_t kVocabulary = 21504;
constexpr std::uint64_t kShortest = 16;  // sequence length
constexpr std::uint64_t kLongest = 384;

constexpr std::uint64_t kCheckpointEvery = 100;  // steps
constexpr std::uint64_t kEvaluateEvery = 25;
constexpr std::uint64_t kSampleEvery = 40;

struct BatchShape {
  std::uint64_t batch = 0;
  std::uint64_t length = 0;

  std::uint64_t positions() const { return batch * length; }
};

// What a block keeps for its backward pass, in the order of the forward pass.
struct Activation {
  const char* name;
  std::uint64_t position_bits = 0;  // for each position of each sequence
  std::uint64_t pair_bits = 0;      // for each pair of positions, in each head

  std::uint64_t nbytes(const BatchShape& shape) const {
    return (position_bits * shape.positions() +
            pair_bits * kHeads * shape.positions() * shape.length) /
           8;
  }
};
constexpr Activation kActivations[] = {
    {.name = "norm_1", .position_bits = 32 * kWidth},
    {.name = "norm_1_moments", .position_bits = 64},
    {.name = "qkv", .position_bits = 3 * 32 * kWidth},
    {.name = "scores", .pair_bits = 32},
    {.name = "scores_mask", .pair_bits = 1},
    {.name = "context", .position_bits = 32 * kWidth},
    {.name = "projection", .position_bits = 32 * kWidth},
    {.name = "dropout_1_mask", .position_bits = kWidth},
    {.name = "residual_1", .position_bits = 32 * kWidth},
    {.name = "norm_2", .position_bits = 32 * kWidth},
    {.name = "norm_2_moments", .position_bits = 64},
    {.name = "ff_1", .position_bits = 4 * 32 * kWidth},
    {.name = "gelu", .position_bits = 4 * 32 * kWidth},
    {.name = "ff_2", .position_bits = 32 * kWidth},
    {.name = "dropout_2_mask", .position_bits = kWidth},
    {.name = "residual_2", .position_bits = 32 * kWidth},
};

struct WeightShape {
  const char* name;
  std::uint64_t num_elements;
};
constexpr WeightShape kBlockWeights[] = {
    {"norm_1", 2 * kWidth},         {"qkv", 3 * kWidth* kWidth}, {"qkv_bias", 3 * kWidth},
    {"projection", kWidth* kWidth}, {"projection_bias", kWidth}, {"norm_2", 2 * kWidth},
    {"ff_1", 4 * kWidth* kWidth},   {"ff_1_bias", 4 * kWidth},   {"ff_2", 4 * kWidth* kWidth},
    {"ff_2_bias", kWidth},
};

// Requests and frees become events; owners are numbered as they first appear.
class Recorder {
 public:
  Recorder() { trace_.heaps.emplace_back("CPU:0"); }

  std::uint32_t owner(Tag tag, const std::string& name) {
    const auto next = static_cast<std::uint32_t>(trace_.owners.size());
    const auto [found, is_new] = owners_.emplace(std::pair(tag, name), next);
    if (is_new) trace_.owners.push_back({tag, name});
    return found->second;
  }
  std::uint64_t allocate(std::uint32_t owner, std::uint64_t nbytes) {
    add({.kind = Kind::kAllocate,
         .id = ++last_id_,
         .nbytes = std::clamp(nbytes, kSmallest, kLargest),
         .owner = owner});
    return last_id_;
  }
  void free(std::uint64_t id) { add({.kind = Kind::kFree, .id = id}); }
  void step(std::uint64_t number) { add({.kind = Kind::kStep, .id = number}); }

  std::uint64_t num_events() const { return trace_.events.size(); }
  Trace take(std::uint64_t num_events) {
    trace_.events.resize(num_events);
    return std::move(trace_);
  }

 private:
  void add(TraceEvent event) {
    event.time_us = trace_.events.size() * kMicrosecondsPerEvent;
    trace_.events.push_back(event);
  }

  Trace trace_;
  std::map<std::pair<Tag, std::string>, std::uint32_t> owners_;
  std::uint64_t last_id_ = 0;
};

class Training {
 public:
  explicit Training(std::uint64_t seed) : random_(seed) {
    for (std::uint64_t b = 0; b < kBlocks; ++b) {
      for (const Activation& a : kActivations) {
        const std::string name = fmt::format("block_{}/{}", b, a.name);
        activation_owners_.push_back(out_.owner(Tag::kActivations, name));
      }
      for (const WeightShape& w : kBlockWeights)
        add_weight(fmt::format("block_{}/{}", b, w.name), w.num_elements);
    }
    add_weight("embedding", kVocabulary * kWidth);
    for (int i = 0; i < 4; ++i) read_ahead();
  }

  Trace run(std::uint64_t num_events) {
    while (out_.num_events() < num_events) step();
    return out_.take(num_events);
  }

 private:
  struct Weight {
    std::uint64_t nbytes;
    std::uint32_t gradient_owner, staging_owner, cache_owner, workspace_owner;
    std::uint64_t gradient = 0;  // ids
    std::uint64_t best = 0;
  };
  struct Batch {
    BatchShape shape;
    std::vector<std::uint64_t> ids;
  };

  void add_weight(const std::string& name, std::uint64_t num_elements) {
    const std::uint64_t nbytes = 4 * num_elements;
    out_.allocate(out_.owner(Tag::kWeights, name), nbytes);
    for (const char* slot : {"m", "v"}) {
      out_.allocate(out_.owner(Tag::kOptimizer, fmt::format("{}/{}", name, slot)), nbytes);
    }
    weights_.push_back({.nbytes = nbytes,
                        .gradient_owner = out_.owner(Tag::kGradients, name),
                        .staging_owner = out_.owner(Tag::kStaging, name),
                        .cache_owner = out_.owner(Tag::kCache, "best/" + name),
                        .workspace_owner = out_.owner(Tag::kWorkspace, name)});
  }

  void read_ahead() {
    // Short sequences are frequent, long ones rare; a batch has as many as fit its positions.
    const std::uint64_t u = random_.below(1024);
    const std::uint64_t length = kShortest + (kLongest - kShortest + 1) * u * u / (1024 * 1024);
    const std::uint64_t batch_size = std::min(kLargestBatch, kPositions / length);
    Batch batch{.shape = {.batch = batch_size, .length = length}};
    for (const char* name : {"tokens", "labels", "weights"}) {
      batch.ids.push_back(
          out_.allocate(out_.owner(Tag::kDataset, name), 8 * batch.shape.positions()));
    }
    batches_.push_back(std::move(batch));
  }

  void use_scratch(std::uint32_t owner, std::uint64_t nbytes) {
    out_.free(out_.allocate(owner, nbytes));
  }

  void keep_for(std::uint32_t owner, std::uint64_t nbytes, std::uint64_t num_steps) {
    expiring_.emplace(step_ + num_steps, out_.allocate(owner, nbytes));
  }

  // What happens between the ops of a step.
  void do_odds_and_ends() {
    if (random_.one_in(4)) {
      keep_for(out_.owner(Tag::kCache, "small"), random_.any_scale(10, 18),
               random_.between(1, 400));
    }
    // The writer of checkpoints is done with a copy now and then.
    for (int i = 0; i < 2 && !staged_.empty(); ++i) {
      std::swap(staged_[random_.below(staged_.size())], staged_.back());
      out_.free(staged_.back());
      staged_.pop_back();
    }
  }

  std::uint32_t activation_owner(std::uint64_t block, std::size_t i) const {
    return activation_owners_[block * std::size(kActivations) + i];
  }

  void use_mask(std::uint64_t length) {
    if (masks_.contains(length)) return;
    masks_[length] = out_.allocate(out_.owner(Tag::kCache, "causal_mask"), 4 * length * length);
    mask_order_.push_back(length);
    if (mask_order_.size() > 24) {
      out_.free(masks_.at(mask_order_.front()));
      masks_.erase(mask_order_.front());
      mask_order_.pop_front();
    }
  }

  // One block forward. The ids of its activations are appended to `kept`.
  void forward_block(std::uint64_t block, const BatchShape& shape,
                     std::vector<std::uint64_t>* kept) {
    for (std::size_t i = 0; i < std::size(kActivations); ++i) {
      const std::uint64_t nbytes = kActivations[i].nbytes(shape);
      if (random_.one_in(2)) use_scratch(workspace_, nbytes / random_.between(1, 4));
      kept->push_back(out_.allocate(activation_owner(block, i), nbytes));
    }
    do_odds_and_ends();
  }

  // One block backward: `flow` is the gradient of its output on entry, of its input on return.
  std::uint64_t backward_block(std::uint64_t block, const BatchShape& shape, std::uint64_t flow,
                               std::vector<std::uint64_t>* kept) {
    std::vector<std::uint64_t> late;  // read once more by a residual link
    for (std::size_t i = std::size(kActivations); i-- > 0;) {
      const std::uint64_t nbytes = kActivations[i].nbytes(shape);
      const std::uint64_t gradient = out_.allocate(flow_, nbytes);
      if (random_.one_in(2)) use_scratch(workspace_, nbytes / random_.between(1, 4));
      if (random_.one_in(8)) {
        late.push_back(kept->back());
      } else {
        out_.free(kept->back());
      }
      kept->pop_back();
      out_.free(flow);
      flow = gradient;
    }
    for (std::size_t i = 0; i < std::size(kBlockWeights); ++i) {
      Weight& weight = weights_[block * std::size(kBlockWeights) + i];
      weight.gradient = out_.allocate(weight.gradient_owner, weight.nbytes);
    }
    for (const std::uint64_t id : late) out_.free(id);
    do_odds_and_ends();
    return flow;
  }

  void train(const BatchShape& shape) {
    const std::uint64_t logits_bytes = 4 * shape.positions() * kVocabulary;
    const std::uint64_t hidden_bytes = 4 * shape.positions() * kWidth;
    use_mask(shape.length);
    std::vector<std::uint64_t> kept{
        out_.allocate(out_.owner(Tag::kActivations, "embedding"), hidden_bytes)};
    for (std::uint64_t b = 0; b < kBlocks; ++b) forward_block(b, shape, &kept);
    const std::uint64_t logits =
        out_.allocate(out_.owner(Tag::kActivations, "logits"), logits_bytes);
    const std::uint64_t logits_gradient = out_.allocate(flow_, logits_bytes);
    out_.free(logits);
    std::uint64_t flow = out_.allocate(flow_, hidden_bytes);
    weights_.back().gradient =
        out_.allocate(weights_.back().gradient_owner, weights_.back().nbytes);
    out_.free(logits_gradient);
    for (std::uint64_t b = kBlocks; b-- > 0;) flow = backward_block(b, shape, flow, &kept);
    out_.free(flow);
    out_.free(kept.front());
    for (Weight& weight : weights_) {
      const std::uint64_t update = out_.allocate(weight.workspace_owner, weight.nbytes);
      out_.free(weight.gradient);
      out_.free(update);
    }
  }

  // Forward only: an activation goes as soon as the next but one is there.
  void evaluate(const BatchShape& shape) {
    std::vector<std::uint64_t> kept;
    for (std::uint64_t b = 0; b < kBlocks; ++b) {
      forward_block(b, shape, &kept);
      for (; kept.size() > 2; kept.erase(kept.begin())) out_.free(kept.front());
    }
    for (const std::uint64_t id : kept) out_.free(id);
  }

  void copy_best() {
    for (Weight& weight : weights_) {
      const std::uint64_t old = weight.best;
      weight.best = out_.allocate(weight.cache_owner, weight.nbytes);
      if (old) out_.free(old);
    }
  }

  // Text token by token: every cache is made anew, one position longer.
  void sample() {
    const std::uint32_t owner = out_.owner(Tag::kCache, "keys_and_values");
    const std::uint64_t first = random_.between(16, 128);
    std::vector<std::uint64_t> caches;
    for (std::uint64_t i = 0; i < 2 * kBlocks; ++i)
      caches.push_back(out_.allocate(owner, 16 * first * kWidth));
    for (std::uint64_t length = first + 1; length < first + 32; ++length) {
      for (std::uint64_t& cache : caches) {
        const std::uint64_t longer = out_.allocate(owner, 16 * length * kWidth);
        out_.free(cache);
        cache = longer;
      }
    }
    for (const std::uint64_t cache : caches) out_.free(cache);
  }

  void step() {
    out_.step(++step_);
    while (!expiring_.empty() && expiring_.begin()->first <= step_) {
      out_.free(expiring_.begin()->second);
      expiring_.erase(expiring_.begin());
    }
    read_ahead();
    const Batch batch = std::move(batches_.front());
    batches_.pop_front();
    train(batch.shape);
    for (const std::uint64_t id : batch.ids) out_.free(id);
    keep_for(out_.owner(Tag::kCache, "metrics"), random_.any_scale(10, 12),
             random_.between(1, 300));
    if (step_ % kEvaluateEvery == 0) {
      for (int i = 0; i < 4; ++i) evaluate(batches_[static_cast<std::size_t>(i)].shape);
      if (random_.one_in(3)) copy_best();
    }
    if (step_ % kSampleEvery == 0) sample();
    if (step_ % kCheckpointEvery == 0) {
      for (const Weight& weight : weights_)
        staged_.push_back(out_.allocate(weight.staging_owner, weight.nbytes));
    }
  }

  Recorder out_;
  Random random_;
  std::uint64_t step_ = 0;
  const std::uint32_t workspace_ = out_.owner(Tag::kWorkspace, "scratch");
  const std::uint32_t flow_ = out_.owner(Tag::kGradients, "flow");
  std::vector<std::uint32_t> activation_owners_;
  std::vector<Weight> weights_;
  std::deque<Batch> batches_;                             // read ahead
  std::multimap<std::uint64_t, std::uint64_t> expiring_;  // step -> id
  std::vector<std::uint64_t> staged_;                     // ids of copies that wait for the writer
  std::map<std::uint64_t, std::uint64_t> masks_;          // sequence length -> id
  std::deque<std::uint64_t> mask_order_;                  // oldest first
};

}  // namespace

Trace make_training_trace(const TrainingOptions& options) {
  return Training(options.seed).run(options.num_events);
}

}  // namespace plimsoll::bench

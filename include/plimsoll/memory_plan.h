// What a function costs in memory, known before it runs.
//
//   tf::MemoryPlan plan = train_step.plan({{tf::float32, {32, 224, 224, 3}}, {tf::int32, {32}}});
//   plan.peak_bytes;                // all of it: what is held, and what a run reserves
//   std::puts(plan.to_string().c_str());
//   plan.save("plan.json");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plimsoll/memory/owner.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll {

// A stretch of memory and the steps in which it is needed.
struct PlannedBuffer {
  enum class Place : std::uint8_t { kArena, kScratch, kInput, kConstant, kVariable, kOutput };

  std::string op;     // that makes it: "Conv2D"; "weights" and the like for what is given
  std::string layer;  // the name scope: "block1/conv"; a variable's name
  std::string site;   // the line that makes it, where a front says it: "train.py:12"
  memory::Tag tag = memory::Tag::kActivations;
  Place place = Place::kArena;
  TensorSpec spec;           // of the first value in it; of no use for scratch
  std::uint64_t nbytes = 0;  // exact
  std::uint64_t offset = 0;  // in the arena (kArena, kScratch)
  int first = 0, last = 0;   // steps, both included
};

// What one pass changed.
struct PassReport {
  std::string name;
  int num_nodes = 0;              // after it
  std::uint64_t peak_before = 0;  // of the bytes alive in the arena, without scratch
  std::uint64_t peak_after = 0;
  double seconds = 0;
};

struct MemoryPlan {
  std::string function;  // its name
  std::string device;    // "/job:localhost/replica:0/task:0/device:CPU:0"

  std::uint64_t peak_bytes = 0;         // variables + constants + inputs + outputs + arena
  std::uint64_t arena_bytes = 0;        // the height of the packed lifetimes
  std::uint64_t lower_bound_bytes = 0;  // that no packing of these lifetimes can beat
  std::uint64_t output_bytes = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t variable_bytes = 0;
  std::uint64_t constant_bytes = 0;
  // Of ops for which the device has no kernel: they run on the CPU, and a run takes so many bytes
  // more there. Neither is part of the peak, which is the device's.
  std::uint64_t host_bytes = 0;
  std::vector<std::string> host_ops;
  // What a run takes from the budget: the arena and the outputs.
  std::uint64_t reserve_bytes() const noexcept { return arena_bytes + output_bytes; }

  int num_steps = 0;
  int peak_step = 0;                      // the first at which most bytes are alive
  std::vector<std::string> step_names;    // "Conv2D block1/conv"
  std::vector<std::uint64_t> live_bytes;  // in the arena, by step, scratch included
  std::vector<PlannedBuffer> buffers;
  std::vector<PassReport> passes;

  // Bytes alive at the peak step, largest first: by tag, by op, by layer.
  struct Row {
    std::string name;
    std::uint64_t nbytes = 0;
  };
  std::vector<Row> by_tag() const;
  std::vector<Row> by_op() const;
  std::vector<Row> by_layer() const;
  // The largest buffers that are alive at the peak.
  std::vector<const PlannedBuffer*> largest(int num) const;

  std::string to_string() const;  // tables and a picture, for a terminal
  std::string to_json() const;
  // throws: NotFoundError if the file cannot be written.
  void save(const std::string& path) const;
};

}  // namespace plimsoll

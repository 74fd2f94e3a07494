// Where values live: which share memory, how long each stretch of memory is needed, and which
// assignments write a variable in place.
//
// A step is the index of a node. A storage is alive from the step that makes it to the last step
// that reads it, both included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace plimsoll::graph {

enum class Place : std::uint8_t {
  kArena,
  kInput,     // the caller's tensor
  kConstant,  // a captured tensor
  kVariable,
  kOutput,  // a tensor that the caller gets
};

struct Storage {
  Place place = Place::kArena;
  int slot = -1;  // input, constant or variable; the number of the block for outputs
  std::uint64_t nbytes = 0;
  int first = 0, last = 0;   // steps
  ValueId value = kNoValue;  // the first that lived there, for names
};

struct StorageMap {
  std::vector<Storage> storages;
  std::vector<int> of_value;      // by ValueId; -1: the value is not made
  std::vector<char> is_in_place;  // by node: an assign that needs no copy
  int num_output_blocks = 0;

  const Storage& storage_of(ValueId v) const noexcept {
    return storages[static_cast<std::size_t>(of_value[static_cast<std::size_t>(v)])];
  }
};

// Brings assigns into a form that can run: the last one of each variable only, after every read of
// the old value and after the last node that can fail for its values. Results that are a variable's
// own memory, or that of another assign, become copies.
void settle_assigns(Graph& graph);

// An input of the graph that output `output` may be written over: the state of a loop.
struct Overwritable {
  int input = 0, output = 0;
};

// pre: settle_assigns was called. `in_place`: let results overwrite what nobody reads later. An
// input that is overwritten is in the block of its output.
StorageMap map_storage(const Graph& graph, bool in_place,
                       std::span<const Overwritable> states = {});

// The bytes that are alive in the arena at each step, without scratch.
std::vector<std::uint64_t> live_bytes(const Graph& graph, const StorageMap& map);

}  // namespace plimsoll::graph

// fork() in the middle of other threads' work: all locks of the memory layer are taken before it
// and released on both sides, so that the child finds every structure whole.
#pragma once

#include <memory>

#include "base/mutex.h"

namespace plimsoll::memory {

class HeapImpl;
struct BudgetTree;

void register_tree(const std::shared_ptr<BudgetTree>& tree);
void register_heap(HeapImpl* heap);
void forget_heap(HeapImpl* heap) noexcept;

Mutex& owner_names_mutex();  // of owner.cpp
Mutex& trace_mutex();        // of trace_writer.cpp

}  // namespace plimsoll::memory

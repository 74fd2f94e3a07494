// fork() in the middle of other threads' work: all locks of the memory layer are taken before it
// and released on both sides, so that the child finds every structure whole.
#pragma once

#include <memory>

#include "base/mutex.h"

namespace plimsoll::memory {

struct BudgetTree;

void register_tree(const std::shared_ptr<BudgetTree>& tree);

Mutex& owner_names_mutex();  // of owner.cpp
Mutex& trace_mutex();        // of trace_writer.cpp

}  // namespace plimsoll::memory

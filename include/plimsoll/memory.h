// Memory as a contract: sources of pages, budgets that bind, heaps and arenas that give back.
// Usable by itself: examples/memory_only.cpp.
//
//   Source       raw pages of a device                         plimsoll/memory/source.h
//   Budget       a hard limit; Reservation is a claim on it    plimsoll/memory/budget.h
//   Owner, Tag   who a byte belongs to                         plimsoll/memory/owner.h
//   Heap         the dynamic allocator of a device             plimsoll/memory/heap.h
//   Arena        one planned block                             plimsoll/memory/arena.h
//   Trace        what was asked for, and its replay            plimsoll/memory/trace.h
//   HostRoom     what this machine has left                    plimsoll/memory/host.h
#pragma once

#include "plimsoll/memory/arena.h"
#include "plimsoll/memory/budget.h"
#include "plimsoll/memory/heap.h"
#include "plimsoll/memory/host.h"
#include "plimsoll/memory/owner.h"
#include "plimsoll/memory/source.h"
#include "plimsoll/memory/trace.h"

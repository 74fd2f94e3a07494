// Shared by the planner's tests: small random problems and an answer by trying every order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "plimsoll/planner.h"

namespace plimsoll::planner {

struct RandomShape {
  int max_buffers = 6;
  int max_time = 8;
  int max_size = 9;
  bool alignment = false;
  bool gaps = false;
  bool fixed = false;
};

inline bool is_alive(const Buffer& buffer, int64_t step) {
  if (step < buffer.lower || step >= buffer.upper) return false;
  for (const Gap& gap : buffer.gaps) {
    if (step >= gap.lower && step < gap.upper) return false;
  }
  return true;
}

inline bool share_a_step(const Buffer& a, const Buffer& b) {
  for (int64_t step = a.lower; step < a.upper; ++step) {
    if (is_alive(a, step) && is_alive(b, step)) return true;
  }
  return false;
}

// A valid problem: fixed buffers are dropped where they would overlap.
inline Problem make_random_problem(std::mt19937_64& random, const RandomShape& shape) {
  const auto below = [&](int limit) { return static_cast<int64_t>(random() % limit); };
  Problem problem;
  const int count = 1 + static_cast<int>(below(shape.max_buffers));
  for (int i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.lower = below(shape.max_time);
    buffer.upper = buffer.lower + 1 + below(static_cast<int>(shape.max_time - buffer.lower));
    buffer.size = below(12) == 0 ? 0 : 1 + below(shape.max_size);
    if (shape.alignment) buffer.alignment = int64_t{1} << below(4);
    if (shape.gaps && buffer.upper - buffer.lower >= 2 && below(2) == 0) {
      const int length = static_cast<int>(buffer.upper - buffer.lower);
      const int64_t lower = buffer.lower + below(length);
      buffer.gaps.push_back({lower, lower + 1 + below(static_cast<int>(buffer.upper - lower))});
    }
    if (!buffer.gaps.empty() && buffer.gaps[0].lower == buffer.lower &&
        buffer.gaps[0].upper == buffer.upper) {
      buffer.gaps.clear();
    }
    if (shape.fixed && below(4) == 0) buffer.offset = below(6) * buffer.alignment;
    problem.buffers.push_back(buffer);
    try {
      check(problem);
    } catch (const std::exception&) {
      problem.buffers.back().offset.reset();
    }
  }
  return problem;
}

// The lowest height, by putting buffers down in every order, each right above what it meets.
inline int64_t brute_force_height(const Problem& problem) {
  const int count = static_cast<int>(problem.buffers.size());
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  int64_t best = kUnlimited;
  do {
    std::vector<int64_t> tops(count, -1);
    int64_t height = 0;
    bool possible = true;
    for (int at = 0; at < count && possible; ++at) {
      const Buffer& buffer = problem.buffers[order[at]];
      if (buffer.size == 0) continue;
      int64_t floor = 0;
      for (int below = 0; below < at; ++below) {
        const Buffer& other = problem.buffers[order[below]];
        if (other.size > 0 && share_a_step(buffer, other)) {
          floor = std::max(floor, tops[order[below]]);
        }
      }
      const int64_t rest = floor % buffer.alignment;
      int64_t offset = rest == 0 ? floor : floor + buffer.alignment - rest;
      if (buffer.offset) {
        possible = offset <= *buffer.offset;
        offset = *buffer.offset;
      }
      tops[order[at]] = offset + buffer.size;
      height = std::max(height, offset + buffer.size);
    }
    if (possible) best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

inline Problem load_problem(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_TEST_DATA) + "/problems/" + name);
  std::stringstream text;
  text << file.rdbuf();
  Problem problem = read_csv(text.str());
  problem.capacity = 1048576;
  return problem;
}

// Layers forward, then backward: lifetimes nest, with scratch on either side.
inline Problem make_chain(int layers) {
  Problem problem;
  for (int i = 0; i < layers; ++i) {
    const int64_t size = 64 * (1 + (i * 7919) % 61);
    const int64_t back = 2 * layers - 1 - i;
    problem.buffers.push_back({.lower = i, .upper = back + 1, .size = size, .alignment = 64});
    problem.buffers.push_back({.lower = i, .upper = i + 1, .size = 64 * (1 + i % 13)});
    problem.buffers.push_back({.lower = back, .upper = back + 1, .size = 64 * (1 + i % 17)});
  }
  return problem;
}

inline void expect_valid(const Problem& problem, const Result& result) {
  Problem open = problem;  // a best effort may pass the capacity
  if (!result.fits()) open.capacity = kUnlimited;
  EXPECT_EQ(validate(open, result.solution), "");
  EXPECT_GE(result.solution.height, result.lower_bound);
}

}  // namespace plimsoll::planner

#include "planner/portfolio.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "planner/orders.h"

namespace plimsoll::planner {
namespace {

constexpr int64_t kFirstNodes = 256;  // per run in round 0, at least
constexpr int kShuffled = 4;          // runs of a round with shuffled orders
struct FixedOrder {
  const char* keys;
  bool by_load;
};
constexpr FixedOrder kOrders[] = {{"TWA", false}, {"TWA", true}, {"TCA", false}, {"OAT", false},
                                  {"TEA", false}, {"CAT", true}, {"TAW", false}, {"WAT", false}};

// Moves each buffer by up to about an eighth of the list.
std::vector<int> shuffled(const std::vector<int>& order, uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t reach = order.size() / 8 + 2;
  std::vector<std::pair<size_t, int>> keyed;
  for (size_t i = 0; i < order.size(); ++i) keyed.push_back({i + random() % reach, order[i]});
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> result;
  for (const auto& entry : keyed) result.push_back(entry.second);
  return result;
}

}  // namespace

Portfolio::Portfolio(const Instance& instance, const Options& options)
    : instance_(instance), techniques_(options.techniques), failed_(instance.num_sections, 0) {
  for (const FixedOrder& order : kOrders) {
    orders_.push_back(make_order(instance, order.keys));
    if (!techniques_.portfolio) break;
  }
  const int threads = techniques_.portfolio ? std::clamp(options.num_threads, 1, 64) : 1;
  for (int t = 0; t < threads; ++t) searches_.emplace_back(instance, techniques_);
}

int Portfolio::num_runs() const {
  return static_cast<int>(orders_.size()) + (techniques_.portfolio ? kShuffled : 0);
}

Preference Portfolio::preference(int round, int run) const {
  const int fixed = static_cast<int>(orders_.size());
  if (run < fixed) return {orders_[run], kOrders[run].by_load};
  const int extra = run - fixed;
  const uint64_t seed = static_cast<uint64_t>(round) * 1000 + static_cast<uint64_t>(run);
  if (round == 0 || extra % 2 == 1) {
    return {shuffled(orders_[extra % fixed], seed), extra % 4 < 2};
  }
  std::vector<int> order = learned_order(orders_[extra / 2 % fixed]);
  return {extra < 2 ? order : shuffled(order, seed), extra % 4 < 2};
}

// What takes part in the sections where most branches ended comes first.
std::vector<int> Portfolio::learned_order(const std::vector<int>& base) const {
  std::vector<int> weight(instance_.count(), 0);
  for (int b = 0; b < instance_.count(); ++b) {
    int64_t most = 0;
    for (const Span& span : instance_.spans_of(b)) {
      for (int s = span.begin; s < span.end; ++s) most = std::max(most, failed_[s]);
    }
    weight[b] = 64 - std::countl_zero(static_cast<uint64_t>(most));
  }
  std::vector<int> order = base;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight[a] > weight[b]; });
  return order;
}

SearchRun Portfolio::attempt(int64_t target, int round, Limits& limits) {
  const int64_t first = std::max<int64_t>(kFirstNodes, 3 * instance_.count());
  const int64_t budget = std::min(first << std::min(round, 40), limits.nodes_left());
  const int64_t affordable =
      std::max<int64_t>(1, limits.nodes_left() / std::max<int64_t>(1, budget));
  const int runs = static_cast<int>(std::min<int64_t>(num_runs(), affordable));
  std::vector<SearchRun> results(runs);
  std::atomic<int> next{0};
  std::atomic<int> settled{runs};  // lowest run that settled it
  const auto work = [&](Search& search) {
    for (int run = next++; run < runs && run < settled; run = next++) {
      results[run] = search.run(target, preference(round, run), budget,
                                [&] { return settled < run || limits.interrupted(); });
      if (results[run].end == SearchRun::End::kLimit) continue;
      int lowest = settled;
      while (run < lowest && !settled.compare_exchange_weak(lowest, run)) {
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const int helpers = std::min<int>(static_cast<int>(searches_.size()), runs) - 1;
    for (int t = 0; t < helpers; ++t) threads.emplace_back(work, std::ref(searches_[t + 1]));
    work(searches_[0]);
  }
  const int winner = settled;
  for (int run = 0; run < std::min(winner + 1, runs); ++run) limits.add_nodes(results[run].nodes);
  if (winner == runs) {
    for (const SearchRun& result : results) {
      for (size_t s = 0; s < result.failed.size(); ++s) failed_[s] += result.failed[s];
    }
  }
  return winner < runs ? std::move(results[winner]) : SearchRun{};
}

}  // namespace plimsoll::planner

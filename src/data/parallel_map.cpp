// Functions of elements, several at a time.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <list>
#include <thread>

#include "base/log.h"
#include "data/node.h"
#include "data/row_places.h"
#include "data/waiting.h"
#include "runtime/call_site.h"

namespace plimsoll::data {
namespace {

using MapFn = std::function<Element(const Element&)>;
using Clock = std::chrono::steady_clock;

// Threads take elements in groups, so that small ones are not outweighed by locks: a group grows
// until it takes about kGroupTime or has kGroupBytes of results: what waits stays small.
constexpr auto kGroupTime = std::chrono::microseconds(300);
constexpr std::size_t kMaxGroup = 32;
constexpr std::uint64_t kGroupBytes = 4096;

std::uint64_t groups_ahead(std::size_t num_threads) {
  return 2 * num_threads;
}

struct Outcome {
  Element element;
  std::exception_ptr error;
};

// Several threads, results in the order of the elements. Without memory for a result its group
// waits until those before are gone; if that is not enough, those behind are thrown away and
// computed again.
class Workers {
 public:
  Workers(std::unique_ptr<Iterator> in, const MapFn& fn, const MapOptions::Enter& enter,
          std::size_t num_threads, std::shared_ptr<RowPlaces> places)
      : in_(std::move(in)),
        fn_(fn),
        enter_(enter),
        places_(std::move(places)),
        scope_(share_work_scope()),
        num_ahead_(groups_ahead(num_threads)) {
    // Kernels on these threads share the cores.
    const int share = std::max(1, omp_get_max_threads() / static_cast<int>(num_threads));
    try {
      while (threads_.size() < num_threads) threads_.emplace_back([this, share] { run(share); });
    } catch (const std::exception& error) {  // fewer do as well
      if (threads_.empty()) {
        throw ResourceExhaustedError(
            fmt::format("no thread could be started for map: {}", error.what()));
      }
      log_once(LogLevel::kWarning, fmt::format("dataset: map has {} threads instead of {}: {}",
                                               threads_.size(), num_threads, error.what()));
    }
  }
  ~Workers() {
    {
      std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::optional<Element> next() {
    std::unique_lock lock(mutex_);
    if (!is_front_ready()) {
      is_wanted_ = true;
      changed_.notify_all();
      wait_checked(lock, ready_, [&] { return is_front_ready(); });
      is_wanted_ = false;
    }
    if (groups_.empty()) {
      // Without memory for another element it can be tried again: nothing is lost.
      if (shortage_) std::rethrow_exception(std::exchange(shortage_, nullptr));
      return std::nullopt;
    }
    Group& group = groups_.front();
    if (group.shortage) {  // and so can this one
      group.state = State::kWaiting;
      std::rethrow_exception(std::exchange(group.shortage, nullptr));
    }
    Outcome outcome = std::move(group.out.front());
    group.out.pop_front();
    if (group.out.empty()) {
      groups_.pop_front();
      lock.unlock();
      changed_.notify_all();
    }
    if (outcome.error) std::rethrow_exception(outcome.error);
    return std::move(outcome.element);
  }

 private:
  enum class State { kWaiting, kRunning, kReady };
  struct Group {
    State state = State::kRunning;
    std::vector<Element> in;  // none: an error of the input
    std::int64_t first = 0;   // its number
    std::deque<Outcome> out;
    std::exception_ptr shortage;  // there is no memory, not even after all others have given theirs
  };

  // Whether there is something for who takes elements: results, or the end.
  bool is_front_ready() const {
    return groups_.empty() ? is_done_ || shortage_ : groups_.front().state == State::kReady;
  }
  // The first group if its results found no memory and its turn has come.
  Group* find_retry() {
    const bool is_first = !groups_.empty() && groups_.front().state == State::kWaiting;
    return is_first && is_wanted_ ? &groups_.front() : nullptr;
  }
  bool may_take() const {
    if (is_done_ || is_taking_ || shortage_ || groups_.size() >= num_ahead_) return false;
    const bool is_urgent = groups_.empty() && is_wanted_;
    if ((is_starved_ || is_held_back(scope_)) && !is_urgent) return false;
    return std::ranges::none_of(groups_, [](const Group& g) { return g.state == State::kWaiting; });
  }
  bool is_finished() const {
    return is_done_ && std::ranges::all_of(groups_, [](const Group& g) {
             return g.state == State::kReady && !g.shortage;
           });
  }

  void run(int num_threads_of_kernels) noexcept {
    omp_set_num_threads(num_threads_of_kernels);
    const AdoptedScope scope(scope_.get());
    const StopScope stop(is_over_);
    work();
  }

  void work() noexcept {
    std::unique_lock lock(mutex_);
    while (true) {
      wait_ahead(lock, changed_, scope_,
                 [&] { return is_over_ || find_retry() || may_take() || is_finished(); });
      if (is_over_ || is_finished()) return;
      Group* group = find_retry();
      if (!group) group = take(lock);
      if (group) compute(lock, *group);
      changed_.notify_all();
      if (is_front_ready()) ready_.notify_all();
    }
  }

  // New elements; none at the end, or if there is no memory for them now.
  Group* take(std::unique_lock<std::mutex>& lock) {
    is_taking_ = true;
    ++num_begun_;
    const bool is_last_try = groups_.empty() && is_wanted_;  // nobody else holds elements
    const std::size_t most = group_size_;
    lock.unlock();
    std::vector<Element> elements;
    std::exception_ptr error;
    bool is_short = false, is_end = false;  // else an error comes behind the elements
    const Clock::time_point begin = Clock::now();
    try {
      while (elements.size() < most && !is_end && Clock::now() - begin < kGroupTime) {
        auto element = in_->next();
        is_end = !element;
        if (element) elements.push_back(std::move(*element));
      }
    } catch (const ResourceExhaustedError&) {
      is_short = true;
      error = std::current_exception();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    is_taking_ = false;
    if (is_short) group_size_ = 1;
    if (is_short && elements.empty() && !is_last_try) {
      is_starved_ = true;
      shrink();
      return nullptr;
    }
    is_starved_ = false;
    is_done_ = is_end;
    if (is_short && elements.empty()) shortage_ = error;
    Group* group = nullptr;
    if (!elements.empty()) {
      group = &groups_.emplace_back();
      group->first = num_taken_;
      num_taken_ += static_cast<std::int64_t>(elements.size());
      group->in = std::move(elements);
    }
    if (error && !is_short) {
      Group& failed = groups_.emplace_back();
      failed.out.push_back({{}, error});
      failed.state = State::kReady;
    }
    return group;
  }

  void compute(std::unique_lock<std::mutex>& lock, Group& group) {
    group.state = State::kRunning;
    const std::vector<Element> in = group.in;
    const std::int64_t first = group.first;
    bool is_alone = num_running_++ == 0 && !is_taking_ && is_wanted_ && &group == &groups_.front();
    const std::uint64_t begun = ++num_begun_;
    lock.unlock();
    std::deque<Outcome> out;
    std::exception_ptr shortage;
    const Clock::time_point begin = Clock::now();
    {
      const std::shared_ptr<void> entered = enter_ ? enter_() : nullptr;
      const TagScope tag(memory::Tag::kDataset);
      while (out.size() < in.size() && !shortage) {
        try {
          out.push_back({make(in[out.size()], first + std::ssize(out)), nullptr});
        } catch (const ResourceExhaustedError&) {
          shortage = std::current_exception();
        } catch (...) {
          out.push_back({{}, std::current_exception()});
        }
      }
    }
    const auto time = Clock::now() - begin;
    std::uint64_t num_bytes = 0;
    for (const Outcome& outcome : out) num_bytes += bytes_of(outcome.element);
    lock.lock();
    --num_running_;
    is_alone = is_alone && num_begun_ == begun;
    if (shortage) {
      group_size_ = 1;
      if (!finish_short(group, out, shortage, is_alone)) return;
    } else if (time < kGroupTime / 2 && num_bytes <= kGroupBytes / 2 && group_size_ < kMaxGroup &&
               num_said_ == 0) {
      group_size_ *= 2;
    } else if ((time > kGroupTime * 2 || num_bytes > kGroupBytes) && group_size_ > 1) {
      group_size_ /= 2;
    }
    group.out = std::move(out);
    group.state = State::kReady;
  }

  Element make(const Element& in, std::int64_t number) const {
    if (!places_) return fn_(in);
    return places_->make_in_place(number, [&] { return fn_(in); });
  }

  // Results that there was memory for stand; what is left waits behind them. False: all waits.
  bool finish_short(Group& group, std::deque<Outcome>& out, const std::exception_ptr& shortage,
                    bool is_alone) {
    const auto num_done = static_cast<std::ptrdiff_t>(out.size());
    if (num_done == 0 && can_wait(group, is_alone)) {
      shrink();
      group.state = State::kWaiting;
      return false;
    }
    if (num_done == 0) {
      group.shortage = shortage;
      return true;
    }
    const auto at = std::ranges::find_if(groups_, [&](const Group& g) { return &g == &group; });
    Group& rest = *groups_.emplace(std::next(at));
    rest.state = State::kWaiting;
    rest.in.assign(group.in.begin() + num_done, group.in.end());
    rest.first = group.first + num_done;
    group.in.resize(out.size());
    shrink();
    return true;
  }

  // Whether memory may come back that this group can use. It may have if others were at work while
  // it ran: threads here, or whoever takes the elements.
  bool can_wait(const Group& group, bool is_alone) {
    if (&group != &groups_.front() || !is_wanted_) return true;
    bool is_any = !is_alone;
    for (Group& behind : groups_) {
      if (&behind == &group) continue;
      if (behind.state != State::kReady || behind.in.empty()) continue;  // or an error
      behind.out.clear();
      behind.state = State::kWaiting;
      is_any = true;
    }
    return is_any;
  }

  void shrink() {
    const std::size_t fewer = groups_.size() > 2 ? groups_.size() - 1 : 1;
    if (fewer >= num_ahead_) return;
    if (num_said_++ == 0) {
      log_once(LogLevel::kWarning,
               fmt::format("dataset: map holds {} elements ahead instead of {}: memory is short",
                           fewer, num_ahead_));
    }
    num_ahead_ = fewer;
  }

  const std::unique_ptr<Iterator> in_;
  const MapFn& fn_;
  const MapOptions::Enter& enter_;
  const std::shared_ptr<RowPlaces> places_;  // null: there are none
  const BudgetScopePtr scope_;
  std::mutex mutex_;                 // guards what follows
  std::condition_variable changed_;  // for threads: there may be something to do
  std::condition_variable ready_;    // for who takes elements
  std::size_t num_ahead_;            // groups
  std::size_t group_size_ = 1;       // of the next one
  std::list<Group> groups_;
  std::exception_ptr shortage_;  // for another element, though nobody else holds any
  std::int64_t num_taken_ = 0;   // elements of in_
  std::uint64_t num_begun_ = 0;  // times that a thread began to take or to compute
  int num_running_ = 0;          // threads that compute
  int num_said_ = 0;             // times that memory was short
  bool is_wanted_ = false;       // somebody waits for an element
  bool is_taking_ = false;       // a thread is at in_
  bool is_starved_ = false;      // there was no memory for another element
  bool is_done_ = false;
  std::atomic<bool> is_over_{false};  // nobody wants any more
  std::vector<std::thread> threads_;
};

class ParallelMapRun : public Iterator {
 public:
  ParallelMapRun(std::unique_ptr<Iterator> in, const MapFn& fn, const MapOptions::Enter& enter,
                 std::size_t num_threads, std::shared_ptr<RowPlaces> places)
      : workers_(std::move(in), fn, enter, num_threads, std::move(places)) {}
  std::optional<Element> next() override { return workers_->next(); }

 private:
  const Threaded<Workers> workers_;
};

}  // namespace

std::unique_ptr<Iterator> make_parallel_map(std::unique_ptr<Iterator> in, const MapFn& fn,
                                            const MapOptions::Enter& enter, std::size_t num_threads,
                                            std::shared_ptr<RowPlaces> places) {
  return std::make_unique<ParallelMapRun>(std::move(in), fn, enter, num_threads, std::move(places));
}

std::int64_t taken_ahead(std::size_t num_threads) {
  return static_cast<std::int64_t>((groups_ahead(num_threads) + 1) * kMaxGroup);
}

Holds held_by_threads(const Holds& in, const Making& making, std::size_t num_threads,
                      bool sizes_differ) {
  const std::uint64_t element = making.element;
  // Small elements go in groups.
  const std::uint64_t most = element ? 2 * kGroupBytes / element : kMaxGroup;
  // After a small one the next group is larger, whatever comes then.
  const std::uint64_t group =
      std::min<std::uint64_t>(std::max<std::uint64_t>(most, 1) * (sizes_differ ? 2 : 1), kMaxGroup);
  // Groups with what they were made of, the work of each thread, and one that takes more.
  Holds holds;
  holds.element = holds.given = holds.owned = element;
  holds.kept = in.busy + groups_ahead(num_threads) * group * (in.owned + element) +
               num_threads * (std::max(making.work, element) - element);
  holds.busy = holds.kept + element;
  holds.ending = in.ending;
  holds.trust = std::max(in.trust, Trust::kMost);
  return with_others(holds, making);
}

}  // namespace plimsoll::data

// Elements by what they are: in groups of one key, once each, or without those that fail.
#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "data/node.h"
#include "data/retry.h"
#include "plimsoll/interop.h"

namespace plimsoll::data {
namespace {

// Elements wait by key until as many are there as make a window.
class GroupRun : public Iterator {
 public:
  // most_held: is told of as many elements as may wait, going by the keys that have come.
  GroupRun(std::unique_ptr<Iterator> in, GroupOptions options,
           std::shared_ptr<std::atomic<std::uint64_t>> most_held)
      : in_(std::move(in)), options_(std::move(options)), most_held_(std::move(most_held)) {}

  std::optional<Element> next() override {
    while (true) {
      if (window_) {
        if (auto element = window_->next()) return element;
        window_.reset();
      }
      if (!full_ && !is_over_) collect();
      if (!full_) {
        if (groups_.empty()) return std::nullopt;
        full_ = groups_.begin()->first;
      }
      open();
    }
  }

 private:
  // Takes elements until a group is full, or there are no more.
  void collect() {
    while (!full_) {
      if (!next_) next_ = in_->next();
      is_over_ = !next_;
      if (is_over_) return;
      const auto [key, size] = call_or_drop(
          [&] {
            const std::int64_t of = options_.key(*next_);
            return std::pair(of, options_.window_size(of));
          },
          [&] { next_.reset(); });
      std::vector<Element>& group = groups_[key];
      group.push_back(std::move(*next_));
      next_.reset();  // not before: without memory for its key it waits for another try
      if (sizes_.emplace(key, size).second) {
        room_ += static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
        if (room_ > *most_held_) *most_held_ = room_;
      }
      if (static_cast<std::int64_t>(group.size()) >= size) full_ = key;
    }
  }
  void open() {
    const auto found = groups_.find(*full_);
    const auto drop = [&] {
      groups_.erase(found);
      full_.reset();
    };
    window_ = call_or_drop(
        [&] {
          const Dataset window = Dataset::from_elements(found->second);
          return options_.reduce(*full_, window).make_iterator();
        },
        drop);
    drop();
  }

  const std::unique_ptr<Iterator> in_;
  const GroupOptions options_;
  const std::shared_ptr<std::atomic<std::uint64_t>> most_held_;
  std::map<std::int64_t, std::vector<Element>> groups_;
  std::map<std::int64_t, std::int64_t> sizes_;  // of the windows of each key that has come
  std::uint64_t room_ = 0;                      // their sum
  std::optional<Element> next_;
  std::optional<std::int64_t> full_;  // the key of the group that is to be a window
  std::unique_ptr<Iterator> window_;
  bool is_over_ = false;
};

std::string_view bytes_of_scalar(const Tensor& t) {
  if (t.dtype() == DType::kString) return interop::string_data(t);
  return {static_cast<const char*>(interop::host_data(t)),
          static_cast<std::size_t>(dtype_size(t.dtype()))};
}

// Scalars that were not there before. Those that were are kept: they are what others are compared
// with.
class UniqueRun : public Iterator {
 public:
  explicit UniqueRun(std::unique_ptr<Iterator> in,
                     std::shared_ptr<std::atomic<std::uint64_t>> most_held)
      : in_(std::move(in)), most_held_(std::move(most_held)) {}

  std::optional<Element> next() override {
    while (auto element = in_->next()) {
      PLIMSOLL_CHECK(element->is_leaf() && element->leaf().rank() == 0, InvalidArgumentError,
                     "`tf.data.Dataset.unique` only supports elements of a single scalar");
      const Tensor& found = element->leaf();
      const Tensor scalar = found.dtype() == DType::kString ? found : interop::on_host(found);
      if (!seen_.insert(bytes_of_scalar(scalar)).second) continue;
      kept_.push_back(scalar);
      if (kept_.size() > *most_held_) *most_held_ = kept_.size();
      return element;
    }
    return std::nullopt;
  }

 private:
  const std::unique_ptr<Iterator> in_;
  const std::shared_ptr<std::atomic<std::uint64_t>> most_held_;
  std::vector<Tensor> kept_;
  std::unordered_set<std::string_view> seen_;  // of what is kept
};

}  // namespace

Dataset Dataset::group_by_window(const GroupOptions& options) const {
  PLIMSOLL_CHECK(options.key && options.reduce && options.window_size, InvalidArgumentError,
                 "group_by_window needs functions of the key, of windows and of their size");
  const auto most_held = std::make_shared<std::atomic<std::uint64_t>>(0);
  // How many keys there are is not known: windows of those that have come may all be full.
  const auto holds = [in = *this, most_held](const Use& use, std::uint64_t seen) {
    const Holds before = in.node()->holds(use.taking_all());
    const std::int64_t num = in.cardinality();
    const std::uint64_t count =
        num < 0 ? most_held->load()
                : std::min<std::uint64_t>(*most_held, static_cast<std::uint64_t>(num));
    Holds made = collected(before, count, seen);
    made.kept += count * before.owned;
    made.trust = Trust::kAbout;
    return made;
  };
  return make_step({.run =
                        [in = *this, options, most_held] {
                          return std::make_unique<GroupRun>(in.make_iterator(), options, most_held);
                        },
                    .from = {*this},
                    .holds = holds});
}

Dataset Dataset::unique() const {
  const auto most_held = std::make_shared<std::atomic<std::uint64_t>>(0);
  return make_step(
      {.run = [in = *this,
               most_held] { return std::make_unique<UniqueRun>(in.make_iterator(), most_held); },
       .from = {*this},
       .holds =
           [in = *this, most_held](const Use& use, std::uint64_t) {
             Holds made = with_buffer(in.node()->holds(use.taking_all()), *most_held);
             made.trust = Trust::kAbout;
             return made;
           }});
}

Dataset Dataset::ignore_errors(std::function<bool()> may_go_on) const {
  const auto next = [may_go_on](Iterator& run) -> std::optional<Element> {
    while (true) {
      try {
        return run.next();
      } catch (const ResourceExhaustedError&) {
        throw;  // it can be tried again
      } catch (const Error&) {
      } catch (...) {
        if (!may_go_on || !may_go_on()) throw;
      }
    }
  };
  return make_step({.run =
                        [in = *this, next] {
                          return make_run([run = std::shared_ptr<Iterator>(in.make_iterator()),
                                           next] { return next(*run); });
                        },
                    .from = {*this},
                    .keeps_rows = true,
                    .holds = passing_on(*this, &Use::taking_all)});
}

}  // namespace plimsoll::data

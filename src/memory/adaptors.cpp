// Sources around sources: a limit, statistics, a trace, failures on purpose.
#include <utility>

#include "base/check.h"
#include "plimsoll/memory/source.h"

namespace plimsoll::memory {
namespace {

// Passes every call on; adaptors override what they change.
class Adaptor : public Source {
 public:
  explicit Adaptor(SourcePtr inner) : inner_(std::move(inner)) {
    PLIMSOLL_CHECK(inner_ != nullptr, InvalidArgumentError,
                   "a source adaptor needs a source, got null");
  }

  std::string name() const override { return inner_->name(); }
  std::uint64_t capacity() const noexcept override { return inner_->capacity(); }
  std::uint64_t granularity() const noexcept override { return inner_->granularity(); }
  std::uint64_t huge_granularity() const noexcept override { return inner_->huge_granularity(); }
  std::uint64_t address_step() const noexcept override { return inner_->address_step(); }
  bool is_whole() const noexcept override { return inner_->is_whole(); }
  std::uint64_t largest_reserve() const noexcept override { return inner_->largest_reserve(); }
  bool is_host() const noexcept override { return inner_->is_host(); }
  Address try_reserve(std::uint64_t nbytes) noexcept override {
    return inner_->try_reserve(nbytes);
  }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    return inner_->try_commit(address, nbytes);
  }
  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    inner_->decommit(address, nbytes);
  }
  void release(Address address, std::uint64_t nbytes) noexcept override {
    inner_->release(address, nbytes);
  }
  bool populate(Address address, std::uint64_t nbytes) noexcept override {
    return inner_->populate(address, nbytes);
  }
  void advise_huge(Address address, std::uint64_t nbytes, bool on) noexcept override {
    inner_->advise_huge(address, nbytes, on);
  }

 protected:
  const SourcePtr inner_;
};

class LimitSource final : public Adaptor {
 public:
  LimitSource(SourcePtr inner, std::uint64_t limit) : Adaptor(std::move(inner)), limit_(limit) {}

  std::uint64_t capacity() const noexcept override { return std::min(limit_, inner_->capacity()); }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    std::uint64_t now = committed_.load(std::memory_order_relaxed);
    do {
      if (nbytes > limit_ - now) return false;
    } while (!committed_.compare_exchange_weak(now, now + nbytes));
    if (inner_->try_commit(address, nbytes)) return true;
    committed_ -= nbytes;
    return false;
  }
  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    inner_->decommit(address, nbytes);
    committed_ -= nbytes;
  }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> committed_{0};  // never above limit_
};

class StatisticsSource final : public Adaptor {
 public:
  StatisticsSource(SourcePtr inner, std::shared_ptr<SourceStatistics> statistics)
      : Adaptor(std::move(inner)), stats_(std::move(statistics)) {}

  Address try_reserve(std::uint64_t nbytes) noexcept override {
    ++stats_->reserves;
    const Address address = inner_->try_reserve(nbytes);
    if (address) {
      stats_->reserved_bytes += nbytes;
    } else {
      ++stats_->refused;
    }
    return address;
  }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    ++stats_->commits;
    if (!inner_->try_commit(address, nbytes)) {
      ++stats_->refused;
      return false;
    }
    const std::uint64_t now = stats_->committed_bytes += nbytes;
    std::uint64_t peak = stats_->peak_committed_bytes;
    while (now > peak && !stats_->peak_committed_bytes.compare_exchange_weak(peak, now)) {
    }
    return true;
  }
  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    ++stats_->decommits;
    inner_->decommit(address, nbytes);
    stats_->committed_bytes -= nbytes;
  }
  void release(Address address, std::uint64_t nbytes) noexcept override {
    ++stats_->releases;
    inner_->release(address, nbytes);
    stats_->reserved_bytes -= nbytes;
  }

 private:
  const std::shared_ptr<SourceStatistics> stats_;
};

class TraceSource final : public Adaptor {
 public:
  TraceSource(SourcePtr inner, SourceSink sink)
      : Adaptor(std::move(inner)), sink_(std::move(sink)) {}

  Address try_reserve(std::uint64_t nbytes) noexcept override {
    const Address address = inner_->try_reserve(nbytes);
    sink_(SourceCall::kReserve, address, nbytes, address != 0);
    return address;
  }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    const bool ok = inner_->try_commit(address, nbytes);
    sink_(SourceCall::kCommit, address, nbytes, ok);
    return ok;
  }
  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    inner_->decommit(address, nbytes);
    sink_(SourceCall::kDecommit, address, nbytes, true);
  }
  void release(Address address, std::uint64_t nbytes) noexcept override {
    inner_->release(address, nbytes);
    sink_(SourceCall::kRelease, address, nbytes, true);
  }

 private:
  const SourceSink sink_;
};

class FailAfterSource final : public Adaptor {
 public:
  FailAfterSource(SourcePtr inner, std::shared_ptr<FailPlan> plan)
      : Adaptor(std::move(inner)), plan_(std::move(plan)) {}

  Address try_reserve(std::uint64_t nbytes) noexcept override {
    return passes() ? inner_->try_reserve(nbytes) : 0;
  }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    return passes() && inner_->try_commit(address, nbytes);
  }

 private:
  bool passes() noexcept {
    ++plan_->calls_seen;
    return plan_->calls_left-- > 0 || plan_->failures-- <= 0;
  }

  const std::shared_ptr<FailPlan> plan_;
};

}  // namespace

SourcePtr make_limit_source(SourcePtr inner, std::uint64_t limit) {
  return std::make_shared<LimitSource>(std::move(inner), limit);
}

SourcePtr make_statistics_source(SourcePtr inner, std::shared_ptr<SourceStatistics> statistics) {
  PLIMSOLL_CHECK(statistics != nullptr, InvalidArgumentError, "statistics must not be null");
  return std::make_shared<StatisticsSource>(std::move(inner), std::move(statistics));
}

SourcePtr make_trace_source(SourcePtr inner, SourceSink sink) {
  PLIMSOLL_CHECK(sink != nullptr, InvalidArgumentError, "sink must not be null");
  return std::make_shared<TraceSource>(std::move(inner), std::move(sink));
}

SourcePtr make_fail_after_source(SourcePtr inner, std::shared_ptr<FailPlan> plan) {
  PLIMSOLL_CHECK(plan != nullptr, InvalidArgumentError, "plan must not be null");
  return std::make_shared<FailAfterSource>(std::move(inner), std::move(plan));
}

}  // namespace plimsoll::memory

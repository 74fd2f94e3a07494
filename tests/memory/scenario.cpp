#include "memory/scenario.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll::memory {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string& message) {
  throw std::logic_error(message);
}

Words split(const std::string& line) {
  std::istringstream in(line.substr(0, line.find('#')));
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The word behind `key`, or `fallback`.
std::string option(const Words& words, const std::string& key, const std::string& fallback = "") {
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == key) return words[i + 1];
  }
  return fallback;
}
bool has(const Words& words, const std::string& flag) {
  return std::find(words.begin(), words.end(), flag) != words.end();
}

struct Device {
  SourcePtr source;
  std::unique_ptr<Heap> heap;  // null for a budget without one
  Budget budget;
};

class Scenario {
 public:
  explicit Scenario(std::string device) : device_(std::move(device)) {
    given_.read = [](void* to, Address from, std::uint64_t nbytes) {
      std::memcpy(to, reinterpret_cast<const void*>(from), nbytes);
    };
    given_.write = [](Address to, const void* from, std::uint64_t nbytes) {
      std::memcpy(reinterpret_cast<void*>(to), from, nbytes);
    };
  }
  explicit Scenario(ScenarioSource given) : given_(std::move(given)) {}

  void run(const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      line_ = i + 1;
      const Words words = split(lines[i]);
      if (words.empty()) continue;
      if (words[0] == "repeat") {
        i = repeat(lines, i, std::stoi(words.at(1)));
      } else {
        step(words);
      }
    }
    if (!expected_error_.empty()) fail("the scenario ends before the error that it expects");
  }

  std::size_t line() const { return line_; }

 private:
  std::size_t repeat(const std::vector<std::string>& lines, std::size_t begin, int rounds) {
    std::size_t end = begin;
    while (end < lines.size() && split(lines[end]) != Words{"end"}) ++end;
    if (end == lines.size()) fail("repeat without end");
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = begin + 1; i < end; ++i) {
        line_ = i + 1;
        std::string line = lines[i];
        for (auto at = line.find("$i"); at != std::string::npos; at = line.find("$i")) {
          line.replace(at, 2, std::to_string(round));
        }
        if (const Words words = split(line); !words.empty()) step(words);
      }
    }
    return end;
  }

  void step(const Words& words) {
    if (words[0] == "expect" && words.at(1) == "error") {
      expected_error_ = words.at(2);
      return;
    }
    const std::string expected = std::exchange(expected_error_, "");
    std::string got;
    std::string message;
    try {
      execute(words);
    } catch (const Error& e) {
      got = e.name();
      message = e.what();
    }
    if (!got.empty() && expected.empty()) fail(got + ": " + message);
    if (!expected.empty() && got != expected && got != expected + "Error") {
      fail(fmt::format("expected {}, got {}", expected, got.empty() ? "no error" : got));
    }
  }

  void execute(const Words& w) {
    const std::string& verb = w[0];
    if (verb == "budget") {
      add(w.at(1), {nullptr, nullptr, Budget({.name = w[1], .limit = parse_bytes(w.at(2))})});
    } else if (verb == "device") {
      make_device(w);
    } else if (verb == "limit") {
      device(w.at(1)).budget.set_limit(parse_bytes(w.at(2)), has(w, "as_released")
                                                                 ? Budget::Lowering::kAsReleased
                                                                 : Budget::Lowering::kRefuse);
    } else if (verb == "alloc") {
      Device& on = device(option(w, "on"));
      blocks_[w.at(1)] =
          on.heap->allocate(parse_bytes(w.at(2)), owner(w), parse_bytes(option(w, "align", "64")));
    } else if (verb == "reserve") {
      claims_[w.at(1)] = device(option(w, "on")).budget.reserve(parse_bytes(w.at(2)), owner(w));
    } else if (verb == "free") {
      if (blocks_.erase(w.at(1)) + claims_.erase(w.at(1)) == 0) fail("nothing is called " + w[1]);
    } else if (verb == "fill" || verb == "check") {
      touch(w.at(1), verb == "check");
    } else if (verb == "trim") {
      device(w.at(1)).heap->trim();
    } else if (verb == "wait") {
      wait(w);
    } else if (verb == "expect") {
      expect(w);
    } else {
      fail("unknown command " + verb);
    }
  }

  void make_device(const Words& w) {
    const std::string kind = w.at(2) == "any" ? device_ : w.at(2);
    SourcePtr source = given_.source;
    if (!source && kind == "sim") {
      source = make_sim_source({.name = w.at(1),
                                .capacity = parse_bytes(option(w, "capacity", "16GiB")),
                                .granularity = parse_bytes(option(w, "granule", "64KiB"))});
    } else if (!source) {
      source = make_host_source({.protect = kind == "protect"});
    }
    BudgetOptions options{.name = w.at(1), .limit = kNoLimit, .prepaid = has(w, "prepaid")};
    if (has(w, "limit")) options.limit = parse_bytes(option(w, "limit"));
    const std::string parent = option(w, "under");
    Budget budget = parent.empty() ? Budget(options) : Budget(device(parent).budget, options);
    auto heap = std::make_unique<Heap>(source, budget, HeapOptions{.up_front = has(w, "up_front")});
    add(w[1], {source, std::move(heap), budget});
  }

  void add(const std::string& name, Device made) {
    order_.push_back(name);
    devices_.insert_or_assign(name, std::move(made));
  }

  // No name: the device made last.
  Device& device(const std::string& name) {
    const auto found = devices_.find(name.empty() && !order_.empty() ? order_.back() : name);
    if (found == devices_.end()) fail("no device " + name);
    return found->second;
  }

  static Owner owner(const Words& w) {
    return {parse_tag(option(w, "tag", "activations")), option(w, "name")};
  }

  void touch(const std::string& name, bool check) {
    const Block& block = blocks_.at(name);
    const int value = static_cast<unsigned char>(std::hash<std::string>()(name) | 1);
    std::vector<unsigned char> bytes(block.nbytes(), static_cast<unsigned char>(value));
    if (!check) return given_.write(block.address(), bytes.data(), bytes.size());
    given_.read(bytes.data(), block.address(), bytes.size());
    for (std::uint64_t i = 0; i < block.nbytes(); ++i) {
      if (bytes[i] != value) fail(fmt::format("byte {} of {} has changed", i, name));
    }
  }

  std::uint64_t measure(const std::string& what, Device& on) {
    if (what == "in_use") return on.budget.in_use();
    if (what == "peak") return on.budget.peak();
    if (what == "committed") return on.budget.committed();
    if (what == "available") return on.budget.available();
    if (what == "live") return on.heap->stats().live_bytes;
    fail("unknown measure " + what);
  }

  // `w` from `at` on: what device [op] bytes. Returns what is wrong.
  std::string compare(const Words& w, std::size_t at) {
    const std::uint64_t got = measure(w.at(at), device(w.at(at + 1)));
    const bool has_op = w.size() > at + 3;
    const std::string op = has_op ? w[at + 2] : "==";
    std::uint64_t wanted = 0;
    std::istringstream sum(w.at(at + (has_op ? 3 : 2)));  // "1GiB+64KiB"
    for (std::string part; std::getline(sum, part, '+');) wanted += parse_bytes(part);
    const bool holds = op == "<=" ? got <= wanted : op == ">=" ? got >= wanted : got == wanted;
    if (holds) return "";
    return fmt::format("{} of {} is {} ({}), expected {} {}", w[at], w[at + 1], got,
                       format_bytes(got), op, wanted);
  }

  void wait(const Words& w) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(std::stoi(w.at(1)));
    std::string wrong;
    while (!(wrong = compare(w, 3)).empty()) {
      if (std::chrono::steady_clock::now() > deadline) fail(wrong);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  void expect(const Words& w) {
    if (w.at(1) == "valid") {
      for (auto& [name, made] : devices_) {
        if (!made.budget.is_valid() || (made.heap && !made.heap->is_valid()))
          fail(name + " is not valid");
      }
    } else if (w[1] == "rows") {
      Device& on = device(w.at(2));
      std::uint64_t sum = 0;
      for (const LedgerRow& row : on.budget.ledger()) sum += row.nbytes;
      if (sum != on.budget.in_use()) {
        fail(fmt::format("the rows add up to {}, in use are {}", sum, on.budget.in_use()));
      }
    } else if (const std::string wrong = compare(w, 1); !wrong.empty()) {
      fail(wrong);
    }
  }

  const std::string device_;
  ScenarioSource given_;
  std::size_t line_ = 0;
  std::string expected_error_;
  std::vector<std::string> order_;
  std::map<std::string, Device> devices_;
  std::map<std::string, Block> blocks_;
  std::map<std::string, Reservation> claims_;
};

}  // namespace

static std::string run(const std::string& text, Scenario scenario) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  try {
    scenario.run(lines);
    return "";
  } catch (const std::exception& e) {
    return fmt::format("line {}: {}\n{}", scenario.line(), lines.at(scenario.line() - 1), e.what());
  }
}

std::string run_scenario(const std::string& text, const std::string& device) {
  return run(text, Scenario(device));
}
std::string run_scenario(const std::string& text, const ScenarioSource& source) {
  return run(text, Scenario(source));
}

}  // namespace plimsoll::memory

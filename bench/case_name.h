// The names of cases at model sizes, which both sides of the benchmark make their case from:
// "conv_filter:16,56,64,64,3,1" is the gradient of conv by its second input, "relu_grad:..." by
// all.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

struct CaseName {
  std::string op;
  std::vector<std::int64_t> sizes;
  bool to_input = false, to_filter = false, to_all = false;  // which gradient; none: forward

  explicit CaseName(const std::string& name) : op(name.substr(0, name.find(':'))) {
    for (std::size_t at = name.find(':'); at != std::string::npos; at = name.find(',', at + 1))
      sizes.push_back(std::strtoll(name.c_str() + at + 1, nullptr, 10));  // 0: no number
    to_input = take_ending("_input");
    to_filter = take_ending("_filter");
    to_all = take_ending("_grad");
  }
  bool is_gradient() const noexcept { return to_input || to_filter || to_all; }
  std::size_t first_source() const noexcept { return to_filter ? 1 : 0; }
  std::size_t end_source(std::size_t num_inputs) const noexcept {
    return to_input ? 1 : num_inputs;
  }

 private:
  bool take_ending(std::string_view ending) {
    if (!op.ends_with(ending)) return false;
    op.resize(op.size() - ending.size());
    return true;
  }
};

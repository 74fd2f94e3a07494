// The eager cases, as users would write them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plimsoll/tf.h"

namespace plimsoll::bench {

struct EagerCase {
  std::string name;        // as the peers know it
  std::string what;        // as the table shows it
  bool is_small = false;   // its time is the overhead of a call
  bool is_random = false;  // results are not compared
  bool has_bar = true;     // false: for information
  std::string note = {};   // shown behind the row
  std::function<Tensor()> run;
};

std::vector<EagerCase> eager_cases();
std::vector<EagerCase> model_cases();  // ops at the sizes of models
// throws: InvalidArgumentError for an unknown name or the wrong sizes.
EagerCase model_case(const std::string& name);

// Element i is (7919 i mod 1000) / 500 - 1, as at the peers.
Tensor numbers(const Shape& shape);
double checksum(const Tensor& tensor);  // sum of absolute values

}  // namespace plimsoll::bench

// What the files of the peer bin/eager_torch share.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

using Case = std::function<torch::Tensor()>;

// The same numbers as everywhere: element i is (7919 i mod 1000) / 500 - 1.
torch::Tensor numbers(std::vector<int64_t> shape);

// "op:size,size,...": the cases of model_cases.cpp.
Case make_model_case(const std::string& name);

// What the relatives of Adam share.
#pragma once

#include "plimsoll/keras/optimizer.h"

namespace plimsoll::keras {

struct AdamNumbers {
  double beta_1, beta_2, epsilon;
  bool amsgrad = false;
};
std::vector<SlotSpec> adam_slots(bool amsgrad);
// step: of the variable's type, from 1 on.
void update_adam(const AdamNumbers& numbers, const Tensor& gradient, Variable& variable,
                 Slots slots, const Tensor& learning_rate, const Tensor& step);

// base^exponent, as a scalar of the exponent's type.
Tensor power(double base, const Tensor& exponent);
// average += (value - average) * (1 - beta)
void update_average(Variable& average, const Tensor& value, double beta);

}  // namespace plimsoll::keras

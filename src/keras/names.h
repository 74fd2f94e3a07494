// Names as Keras makes them.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::keras {

std::string to_snake_case(std::string_view name);  // "Conv2DTranspose" -> "conv2d_transpose"
// "dense", "dense_1", ...: one that no object of this session has.
std::string unique_name(std::string_view base);
void forget_names() noexcept;  // of clear_session

std::string number_text(double value);  // as Python writes it: 1.0, 1e-07, nan

}  // namespace plimsoll::keras

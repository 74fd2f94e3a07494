// NumPy's .npy files: one array each.
//
//   tf::Tensor x = npy::read("x.npy");
//   npy::write("y.npy", y);
//
// Versions 1, 2 and 3 of the format; numbers and booleans in either byte order, bytes and text; in
// C order. What the header says is held against the size of the file before memory is taken for it.
#pragma once

#include <string>

#include "plimsoll/tensor.h"

namespace plimsoll::npy {

// throws: NotFoundError; DataLossError for a file that is no .npy file or ends too early;
// UnimplementedError for what has no tensor: Fortran's order, records, objects, complex numbers.
Tensor read(const std::string& path);
// Strings become text (<U), bfloat16 becomes float32. throws: NotFoundError if it cannot be
// written.
void write(const std::string& path, const Tensor& tensor);

}  // namespace plimsoll::npy

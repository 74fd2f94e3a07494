#include "npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll::npy {
namespace {

class NpyTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  // A file of the version, with the header's text and these bytes behind it.
  const std::string& file(int version, std::string header, const std::string& data) {
    std::string text("\x93NUMPY", 6);
    text += static_cast<char>(version);
    text += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
      text += static_cast<char>(header.size() >> (8 * i) & 255);
    return raw(text + header + data);
  }
  const std::string& raw(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  std::string message() {
    try {
      read(path_);
    } catch (const Error& e) {
      return std::string(e.name()) + ": " + e.what();
    }
    return "nothing was thrown";
  }
  void expect_refused(const std::string& name, const std::string& part) {
    const std::string text = message();
    EXPECT_TRUE(text.starts_with(name)) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::string path_ = testing::TempDir() + "npy_test_" + std::to_string(getpid()) + ".npy";
};

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

TEST_F(NpyTest, WhatIsWrittenIsRead) {
  const Tensor tensors[] = {constant({1.5F, -2.0F, 3.0F, 0.0F, 5.0F, 6.0F}, {3, 2}),
                            constant<std::int64_t>({1, -7}, {2}),
                            constant<std::uint8_t>({255}, {1, 1, 1}),
                            constant(2.5),
                            zeros({0, 4}),
                            cast(constant({1.0F, 0.5F}, {2}), float16),
                            constant({true, false}, {2})};
  for (const Tensor& t : tensors) {
    write(path_, t);
    const Tensor back = read(path_);
    EXPECT_EQ(back.dtype(), t.dtype());
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(cast(back, float64).to_vector<double>(), cast(t, float64).to_vector<double>());
    EXPECT_EQ(std::filesystem::file_size(path_), 128U + static_cast<std::uint64_t>(t.nbytes()));
  }
}

TEST_F(NpyTest, Texts) {
  const Tensor words =
      constant({std::string("ship"), std::string(""), std::string("Schöner 船 🚢")}, {3});
  write(path_, words);
  EXPECT_EQ(read(path_).to_vector<std::string>(), words.to_vector<std::string>());
  file(1, header("|S3", "(2,)"), std::string("ab\0xyz", 6));
  EXPECT_EQ(read(path_).to_vector<std::string>(), (std::vector<std::string>{"ab", "xyz"}));
}

TEST_F(NpyTest, EveryVersionAndByteOrder) {
  for (const int version : {1, 2, 3}) {
    file(version, header("<i4", "(2,)"), bytes_of<std::int32_t>({7, -8}));
    EXPECT_EQ(read(path_).to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, -8}));
  }
  file(1, header(">i2", "(2,)"), std::string("\x01\x02\xff\xfe", 4));
  EXPECT_EQ(read(path_).to_vector<std::int16_t>(), (std::vector<std::int16_t>{258, -2}));
  file(1, "{\"shape\": (), 'fortran_order':False,'descr':'<f8'}", bytes_of({2.25}));
  EXPECT_EQ(read(path_).item<double>(), 2.25);
  file(1, header("<f4", "(1, 2L)", true), bytes_of({1.0F, 2.0F}).substr(0, 8));
  expect_refused("UnimplementedError", "ascontiguousarray");
}

TEST_F(NpyTest, WhatCannotBeReadIsRefused) {
  path_ = testing::TempDir() + "npy_test_that_is_not_there.npy";
  expect_refused("NotFoundError", path_);
  raw("");
  expect_refused("DataLossError", "no .npy file");
  raw("PK\x03\x04 something else");
  expect_refused("DataLossError", "no .npy file");
  file(9, header("<f4", "(1,)"), "");
  expect_refused("UnimplementedError", "version 9.0");
  raw(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12));
  expect_refused("DataLossError", "claims 4294967295 bytes");
  file(1, header("<f4", "(3,)"), bytes_of({1.0F, 2.0F}));
  expect_refused("DataLossError", "takes 12 bytes, there are 8");
  file(1, header("<f8", "(4611686018427387904, 1)"), "");
  expect_refused("DataLossError", "4611686018427387904 elements");
  file(1, header("<f4", "(9223372036854775807, 9223372036854775807)"), "");
  expect_refused("InvalidArgumentError", "9223372036854775807");
  file(1, header("<f4", "(-1,)"), "");
  expect_refused("DataLossError", "dimension");
  file(1, header("<c8", "(1,)"), bytes_of({1.0F, 2.0F}));
  expect_refused("UnimplementedError", "<c8");
  file(1, header("|O", "(1,)"), "");
  expect_refused("UnimplementedError", "objects");
  file(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234");
  expect_refused("UnimplementedError", "records");
  for (const char* text :
       {"{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe}",
        "{'descr': '<f', 'fortran_order': False, 'shape': (1,)}", "{'descr': '<f4", "[]",
        "{'other': 'x'}",
        "{'descr': '<f99999999999999999999', 'fortran_order': False, 'shape': ()}"}) {
    file(1, text, "1234");
    expect_refused("DataLossError", "header");
  }
}

}  // namespace
}  // namespace plimsoll::npy

#include "plimsoll/bytes.h"

#include <gtest/gtest.h>

#include <limits>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// The message of the InvalidArgumentError that `text` gives; empty if it is accepted.
std::string refusal(std::string_view text) {
  try {
    parse_bytes(text);
  } catch (const InvalidArgumentError& e) {
    return e.what();
  }
  return "";
}

TEST(BytesTest, ParsesPlainBytes) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("1073741824"), 1_GiB);
  EXPECT_EQ(parse_bytes("640 B"), 640u);
  EXPECT_EQ(parse_bytes("000123"), 123u);
}

TEST(BytesTest, ParsesBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1KiB"), 1024u);
  EXPECT_EQ(parse_bytes("512MiB"), 512_MiB);
  EXPECT_EQ(parse_bytes("2TiB"), 2048_GiB);
  EXPECT_EQ(parse_bytes("3K"), 3_KiB);
  EXPECT_EQ(parse_bytes("3M"), 3_MiB);
  EXPECT_EQ(parse_bytes("3G"), 3_GiB);
  EXPECT_EQ(parse_bytes("3T"), 3072_GiB);
  EXPECT_EQ(parse_bytes("7kB"), 7'000u);
  EXPECT_EQ(parse_bytes("512 MB"), 512'000'000u);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000u);
  EXPECT_EQ(parse_bytes("1TB"), 1'000'000'000'000u);
}

TEST(BytesTest, IgnoresCaseAndBlanks) {
  EXPECT_EQ(parse_bytes("  64 mib\t"), 64_MiB);
  EXPECT_EQ(parse_bytes("64MIB"), 64_MiB);
  EXPECT_EQ(parse_bytes("2gb\n"), 2'000'000'000u);
}

TEST(BytesTest, ParsesFractionsExactly) {
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736u);
  EXPECT_EQ(parse_bytes("0.25 MiB"), 256_KiB);
  EXPECT_EQ(parse_bytes("0.1KiB"), 102u);  // 102.4, rounded down
  EXPECT_EQ(parse_bytes("0.001kB"), 1u);
  EXPECT_EQ(parse_bytes("1.00000000000000000000000000000000000MiB"), 1_MiB);
  EXPECT_EQ(parse_bytes("0.99999999999999999999999999999999999KiB"), 1023u);
}

TEST(BytesTest, AcceptsEverythingBelowTwoToThe63) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), (1ull << 63) - 1);
  EXPECT_EQ(parse_bytes("8388607.9999999999TiB") >> 40, 8388607u);
}

TEST(BytesTest, RefusesTwoToThe63AndAbove) {
  for (const char* text : {"9223372036854775808", "18446744073709551616", "8388608TiB",
                           "8388608.5T", "9223372037GB", "99999999999999999999999999999"}) {
    EXPECT_NE(refusal(text).find("2^63"), std::string::npos) << text;
  }
}

TEST(BytesTest, RefusesNegativeValues) {
  EXPECT_NE(refusal("-5").find("negative"), std::string::npos);
  EXPECT_NE(refusal(" -1GiB").find("negative"), std::string::npos);
}

TEST(BytesTest, RefusesNonsense) {
  for (const char* text :
       {"",    "   ",      "GiB", "1.",   ".5GiB",     "1,5GiB", "1e9", "inf",     "nan", "0x10",
        "1 2", "12 34MiB", "1.5", "1.5B", "5 bananas", "1GiBB",  "+5",  "1..5MiB", "1PB", "٣"}) {
    EXPECT_NE(refusal(text), "") << text;
  }
  EXPECT_THROW(parse_bytes(std::string_view("1\0GiB", 5)), InvalidArgumentError);
}

TEST(BytesTest, RefusalEchoesWhatWasReceived) {
  EXPECT_EQ(refusal("5 bananas"),
            "not a byte size: '5 bananas' (unknown unit 'bananas'); a size reads like 1073741824, "
            "512MiB, 1.5 GiB or 2GB");
}

TEST(BytesTest, FormatsWithOneDecimal) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(640), "640 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(102'760'448), "98.0 MiB");
  EXPECT_EQ(format_bytes(1_MiB - 1), "1.0 MiB");  // not 1024.0 KiB
  EXPECT_EQ(format_bytes(5_GiB), "5.0 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(BytesTest, WholeBinarySizesSurviveARoundTrip) {
  for (int shift = 0; shift < 43; ++shift) {
    const std::uint64_t nbytes = 1ull << shift;
    EXPECT_EQ(parse_bytes(format_bytes(nbytes)), nbytes);
  }
}

}  // namespace
}  // namespace plimsoll

// libFuzzer on src/h5: any bytes give a result or an Error.
//
//   cmake -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DPLIMSOLL_FUZZ=ON
//   cmake --build build/fuzz --target h5_fuzz
//   build/fuzz/bin/h5_fuzz -max_total_time=600 CORPUS
//
// tests/fuzz/make_corpus.py writes a corpus. Checksums are not compared in this build, so that what
// is behind them is reached.
#include <cstdint>

#include "h5/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  plimsoll::h5::read_all({begin, begin + size});
  return 0;
}

// Streams more records than there is memory: generated, mapped, shuffled, batched and prefetched
// inside a limit.
//
//   stream [GB]     0.2 without an argument; 20 takes some minutes
#include <plimsoll/tf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "check.h"

namespace tf = plimsoll;
namespace data = plimsoll::data;

namespace {

constexpr std::int64_t kFloats = 16 << 10;  // of a record: 64 KiB
constexpr std::int64_t kBatch = 32;

}  // namespace

int main(int argc, char** argv) {
  const double gigabytes = argc > 1 ? std::atof(argv[1]) : 0.2;
  const auto num_records = static_cast<std::int64_t>(gigabytes * 1e9 / (kFloats * sizeof(float)));
  tf::memory::set_budget("256MiB");

  const data::Dataset dataset = data::Dataset::range(num_records)
                                    .map(
                                        [](const data::Element& number) {
                                          const tf::Tensor value =
                                              tf::cast(number.leaf(), tf::float32);
                                          return data::Element(tf::zeros({kFloats}) + value);
                                        },
                                        {.num_parallel_calls = 2})
                                    .shuffle(1000, {.seed = 1})
                                    .batch(kBatch)
                                    .prefetch(4);

  double sum = 0;
  std::int64_t num_seen = 0;
  std::uint64_t most = 0, most_resident = 0;
  for (const data::Element& batch : dataset) {
    const tf::Tensor& rows = batch.leaf();
    num_seen += rows.shape()[0];
    sum += static_cast<double>(tf::reduce_sum(tf::reduce_mean(rows, {1})).item<float>());
    most = std::max(most, tf::memory::stats().in_use);
    most_resident = std::max(most_resident, resident_bytes());
  }
  const double wanted =
      0.5 * static_cast<double>(num_records) * static_cast<double>(num_records - 1);
  std::printf("%lld records, %.2f GB; in use at most %.1f MiB of 256, resident at most %.1f MiB\n",
              static_cast<long long>(num_seen), gigabytes, static_cast<double>(most) / (1 << 20),
              static_cast<double>(most_resident) / (1 << 20));
  check(num_seen == num_records, "every record came");
  check(sum > wanted * 0.999 && sum < wanted * 1.001, "each of them once");
  check(most <= (std::uint64_t{256} << 20), "the limit held");
  check(most_resident <= (std::uint64_t{400} << 20), "so did what the system sees");
  return num_failed;
}

// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/strided_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace shoal::detail {
namespace {

TEST(strided_copy, gathers_and_scatters_runs_and_nothing_between_them) {
  constexpr std::uint64_t k_room = 4096;
  for (const unsigned unit : {0U, 2U, 4U, 8U})
    for (const std::uint64_t units_per_run : {1, 3})
      for (const std::uint64_t gap : {0, 1, 5})
        for (const std::uint64_t count : {1, 2, 7, 20}) {
          const std::uint64_t one = unit == 0 ? 3 : unit;
          const std::uint64_t run = one * units_per_run;
          const run_shape shape{run, run + gap * one};
          const std::uint64_t bytes = count * one;  // the last run may be shorter
          SCOPED_TRACE(testing::Message() << unit << " " << run << " " << shape.stride_bytes << " " << bytes);
          std::vector<std::uint64_t> memory(k_room / 8);
          std::vector<std::uint64_t> packed(k_room / 8, ~std::uint64_t{0});
          auto* const wide = reinterpret_cast<unsigned char*>(memory.data());
          auto* const tight = reinterpret_cast<unsigned char*>(packed.data());
          for (std::uint64_t k = 0; k < k_room; ++k) wide[k] = static_cast<unsigned char>(k * 7 % 251);
          gather_runs(tight, wide, bytes, shape, unit);
          std::vector<unsigned char> expected(wide, wide + k_room);
          for (std::uint64_t k = 0; k < bytes; ++k) {
            const std::uint64_t at = k / run * shape.stride_bytes + k % run;
            ASSERT_EQ(tight[k], wide[at]) << k;
            tight[k] = expected[at] = static_cast<unsigned char>(~wide[at]);
          }
          ASSERT_EQ(tight[bytes], 0xff);
          scatter_runs(wide, tight, bytes, shape, unit);
          ASSERT_EQ(std::memcmp(wide, expected.data(), k_room), 0);
        }
}

}  // namespace
}  // namespace shoal::detail

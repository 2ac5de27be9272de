// SPDX-License-Identifier: Apache-2.0
#include "array/settings.hpp"

#include <gtest/gtest.h>

namespace shoal::array {
namespace {

TEST(array_settings, values_become_options) {
  base::settings s;
  s.add(k_array_settings);
  EXPECT_EQ(read_options(s).segment_bytes, 0U);
  EXPECT_EQ(read_options(s).pages, machine::page_choice::huge_try);
  s.set("segment", "1G");
  s.set("pages", "1g");
  EXPECT_EQ(read_options(s).segment_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(read_options(s).pages, machine::page_choice::giant);
}

}  // namespace
}  // namespace shoal::array

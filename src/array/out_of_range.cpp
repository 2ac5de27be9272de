// SPDX-License-Identifier: Apache-2.0
// The error of checked builds for an index out of range: out of line, so that the check stays one comparison.
#include <cstdio>

#include "shoal/detail/array_access.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::detail {

void index_out_of_range(const array_layout& layout, std::uint64_t i) noexcept {
  char text[160];
  std::snprintf(text, sizeof text, "index %llu is out of the range of its global array of %llu elements",
                static_cast<unsigned long long>(i), static_cast<unsigned long long>(layout.size));
  assertion_failed(text, __FILE__, __LINE__, __func__);
}

void range_out_of_range(const array_layout& layout, std::uint64_t i, std::uint64_t count) noexcept {
  char text[160];
  std::snprintf(text, sizeof text,
                "%llu elements from index %llu on are out of the range of their global array of %llu elements",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(i),
                static_cast<unsigned long long>(layout.size));
  assertion_failed(text, __FILE__, __LINE__, __func__);
}

}  // namespace shoal::detail

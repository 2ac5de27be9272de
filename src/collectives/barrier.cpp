// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {

// After step k a member knows of 2^(k + 1) members, itself included, that they have come.
void barrier(link& to) {
  const std::uint64_t n = to.size();
  std::uint32_t step = 0;
  for (std::uint64_t distance = 1; distance < n; distance *= 2, ++step)
    to.exchange(static_cast<std::uint32_t>((to.rank() + distance) % n), {},
                static_cast<std::uint32_t>((to.rank() + n - distance) % n), {}, step);
}

}  // namespace shoal::collectives

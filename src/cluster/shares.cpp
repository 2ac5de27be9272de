// SPDX-License-Identifier: Apache-2.0
#include "shoal/parallel_for.hpp"

namespace shoal::detail {

// Equal shares, the first ones longer by one where it does not divide.
void shares::divide(std::uint64_t begin, std::uint64_t end, std::uint32_t but) {
  const std::uint32_t nodes = this_port().nodes;
  const std::uint32_t takers = nodes - (but < nodes ? 1 : 0);
  const std::uint64_t whole = (end - begin) / takers;
  const std::uint64_t rest = (end - begin) % takers;
  std::uint64_t first = begin;
  std::uint32_t taker = 0;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (n == but) continue;
    const std::uint64_t count = whole + (taker++ < rest ? 1 : 0);
    add(n, first, count, 1);
    first += count;
  }
}

}  // namespace shoal::detail

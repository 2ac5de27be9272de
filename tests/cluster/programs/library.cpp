// SPDX-License-Identifier: Apache-2.0
// A shared library whose lambdas run on other nodes: linked to faults.cpp, or loaded by it when the job runs already.
#include <cstdint>

#include "shoal/shoal.hpp"

extern "C" std::uint64_t square_on(std::uint32_t node, std::uint64_t x) {
  return shoal::on(node, [x] { return x * x; });
}

extern "C" std::uint64_t count_everywhere(std::uint64_t n) {
  shoal::global_array<std::uint64_t> counts(shoal::node_count());
  shoal::parallel_for(shoal::everywhere, n, [c = counts.ref()](std::uint64_t) { c.async_add(shoal::node_id(), 1); });
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < counts.size(); ++i) sum += counts->get(i);
  return sum;
}

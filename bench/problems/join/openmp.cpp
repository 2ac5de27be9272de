// SPDX-License-Identifier: Apache-2.0
// Each thread enters its share of the customers into a table of its own, found by the upper bits of a hash; then all
// threads look up.
#include <bit>

#include "bench/problems/harness.hpp"
#include "bench/problems/join/kernel.hpp"

namespace {

using namespace problems::join;

std::vector<std::uint64_t> joined(const problem& p, unsigned workers) {
  const std::size_t tables = std::bit_ceil(std::size_t{workers});
  const auto table_of = [tables](std::uint64_t id) { return (problems::scrambled(id) >> 40) & (tables - 1); };
  std::vector<region_table> region_of(tables, region_table(p.customers.size() / tables * 5 / 4 + 16));
#pragma omp parallel for num_threads(workers) schedule(static, 1)
  for (std::size_t t = 0; t < tables; ++t)
    for (const customer& c : p.customers)
      if (table_of(c.id) == t) region_of[t].insert(c.id, c.region);
  std::vector<std::uint64_t> sums(k_regions);
#pragma omp parallel num_threads(workers)
  {
    std::vector<std::uint64_t> mine(k_regions);
#pragma omp for
    for (std::size_t o = 0; o < p.orders.size(); ++o) {
      const order& one = p.orders[o];
      const std::uint32_t region = region_of[table_of(one.customer)].find(one.customer);
      if (region != region_table::k_free) mine[region] += one.amount;
    }
#pragma omp critical
    for (std::uint32_t r = 0; r < k_regions; ++r) sums[r] += mine[r];
  }
  return sums;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { return joined(p, workers); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/join/kernel.hpp"

int main(int argc, char** argv) {
  using namespace problems::join;
  problems::measurement<problem> m(argc, argv);
  m.run([](problem& p) {
    region_table region_of(p.customers.size());
    for (const customer& c : p.customers) region_of.insert(c.id, c.region);
    std::vector<std::uint64_t> sums(k_regions);
    for (const order& o : p.orders)
      if (const std::uint32_t region = region_of.find(o.customer); region != region_table::k_free)
        sums[region] += o.amount;
    return sums;
  });
  return m.finish();
}

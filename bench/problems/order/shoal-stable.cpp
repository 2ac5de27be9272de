// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/order/kernel.hpp"
#include "shoal/parallel_sort.hpp"
#include "shoal/pool.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::order::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] {
    m.run([](problems::order::problem& p) {
      p.sort_by([](auto first, auto last, const auto& less) { shoal::parallel_stable_sort(first, last, less); });
    });
  });
  return m.finish();
}

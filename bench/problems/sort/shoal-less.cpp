// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/sort.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problems::sort::problem& p) { shoal::sort(p.keys, std::less<>{}); }); });
  return m.finish();
}

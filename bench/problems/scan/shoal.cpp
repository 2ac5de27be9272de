// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/scan/kernel.hpp"
#include "shoal/parallel_scan.hpp"
#include "shoal/pool.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::scan::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] {
    m.run([](problems::scan::problem& p) {
      p.scan_by(
          [](const auto& from, auto& to) { shoal::parallel_inclusive_scan(from.begin(), from.end(), to.begin()); });
    });
  });
  return m.finish();
}

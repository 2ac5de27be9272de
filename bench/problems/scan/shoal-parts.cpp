// SPDX-License-Identifier: Apache-2.0
// The general form, which is that of oneTBB.
#include <functional>

#include "bench/problems/harness.hpp"
#include "bench/problems/scan/kernel.hpp"
#include "shoal/parallel_scan.hpp"
#include "shoal/pool.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::scan::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] {
    m.run([](problems::scan::problem& p) {
      p.scan_by([]<class T>(const std::vector<T>& from, std::vector<T>& to) {
        shoal::parallel_scan(
            from.size(), T{0},
            [&](const shoal::range1d& part, T sum, bool last) {
              for (auto i = part.begin(); i < part.end(); ++i) {
                sum += from[i];
                if (last) to[i] = sum;
              }
              return sum;
            },
            std::plus<>());
      });
    });
  });
  return m.finish();
}

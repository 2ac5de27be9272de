// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <functional>

#include "bench/problems/harness.hpp"
#include "bench/problems/scan/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::scan::problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    m.run([](problems::scan::problem& p) {
      p.scan_by([]<class T>(const std::vector<T>& from, std::vector<T>& to) {
        tbb::parallel_scan(
            tbb::blocked_range<std::size_t>(0, from.size()), T{0},
            [&](const tbb::blocked_range<std::size_t>& part, T sum, bool last) {
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

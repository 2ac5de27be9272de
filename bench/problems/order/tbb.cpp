// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/order/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::order::problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    m.run([](problems::order::problem& p) {
      p.sort_by([](auto first, auto last, const auto& less) { tbb::parallel_sort(first, last, less); });
    });
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problems::sort::problem& p) { tbb::parallel_sort(p.keys.begin(), p.keys.end()); }); });
  return m.finish();
}

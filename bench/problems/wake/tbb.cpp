// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/wake/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::wake::problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    tbb::task_group group;
    m.problem().settle = [&group] { group.wait(); };
    m.run([&group](problems::wake::problem& p) {
      for (std::uint64_t i = 0; i < p.tasks; ++i) group.run([&p] { p.run_one(); });
    });
  });
  return m.finish();
}

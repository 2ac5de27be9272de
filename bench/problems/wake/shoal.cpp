// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/wake/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::wake::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] {
    shoal::task_group group;
    m.problem().settle = [&group] { group.wait(); };
    m.run([&group](problems::wake::problem& p) {
      for (std::uint64_t i = 0; i < p.tasks; ++i) group.run([&p] { p.run_one(); });
    });
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/flat/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::flat;

void spawn_all(std::uint64_t tasks) {
  shoal::task_group group;
  for (std::uint64_t i = 0; i < tasks; ++i) group.run([] { counts::task_ran(); });
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](const problem& p) { spawn_all(p.tasks); }); });
  return m.finish();
}

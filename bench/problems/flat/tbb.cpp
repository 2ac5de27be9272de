// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/flat/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using namespace problems::flat;

void spawn_all(std::uint64_t tasks) {
  tbb::task_group group;
  for (std::uint64_t i = 0; i < tasks; ++i) group.run([] { counts::task_ran(); });
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](const problem& p) { spawn_all(p.tasks); }); });
  return m.finish();
}

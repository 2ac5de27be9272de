// SPDX-License-Identifier: Apache-2.0
#include <taskflow/taskflow.hpp>

#include "bench/problems/flat/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using namespace problems::flat;

// One task begins them all.
void spawn_all(std::uint64_t tasks, tf::Runtime& here) {
  for (std::uint64_t i = 0; i < tasks; ++i) here.silent_async([] { counts::task_ran(); });
  here.corun_all();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  m.run([&executor](const problem& p) {
    executor.silent_async([&p](tf::Runtime& here) { spawn_all(p.tasks, here); });
    executor.wait_for_all();
  });
  return m.finish();
}

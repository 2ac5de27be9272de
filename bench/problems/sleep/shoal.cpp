// SPDX-License-Identifier: Apache-2.0
#include "shoal/sleep.hpp"

#include "bench/problems/harness.hpp"
#include "bench/problems/sleep/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::sleep;

void sleep_all(const problem& p) {
  shoal::task_group group;
  const clock::time_point start = clock::now();
  for (std::uint64_t i = 0; i < p.tasks; ++i)
    group.run([&p, start, i] {
      const clock::time_point moment = problem::until(start, i);
      shoal::sleep_until(moment);
      p.woke(moment);
    });
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](const problem& p) { sleep_all(p); }); });
  return m.finish();
}

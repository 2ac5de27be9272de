// SPDX-License-Identifier: Apache-2.0
#include "shoal/shared_mutex.hpp"

#include <algorithm>
#include <atomic>

#include "bench/problems/harness.hpp"
#include "bench/problems/shared/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::shared;

std::uint64_t operate_all(const problem& p) {
  shoal::shared_mutex guard;
  std::atomic<std::uint64_t> wrong{0};  // partners: the tasks
  shoal::task_group group;
  for (std::uint64_t first = 0; first < p.operations; first += problem::k_per_task)
    group.run([&, first] {
      wrong += p.operate(
          first, std::min(first + problem::k_per_task, p.operations),
          [&guard](const auto& look) {
            guard.lock_shared();
            look();
            guard.unlock_shared();
          },
          [&guard](const auto& change) {
            guard.lock();
            change();
            guard.unlock();
          });
    });
  group.wait();
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](const problem& p) { return operate_all(p); }); });
  return m.finish();
}

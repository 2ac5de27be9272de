// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "bench/problems/harness.hpp"
#include "bench/problems/shared/kernel.hpp"

namespace {

using namespace problems::shared;

std::uint64_t operate_all(const problem& p, unsigned workers) {
  std::shared_mutex guard;
  std::uint64_t wrong = 0;
#pragma omp parallel for num_threads(workers) schedule(dynamic) reduction(+ : wrong)
  for (std::uint64_t task = 0; task < p.tasks(); ++task)
    wrong += p.operate(
        task * problem::k_per_task, std::min((task + 1) * problem::k_per_task, p.operations),
        [&guard](const auto& look) {
          const std::shared_lock hold(guard);
          look();
        },
        [&guard](const auto& change) {
          const std::unique_lock hold(guard);
          change();
        });
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](const problem& p) { return operate_all(p, workers); });
  return m.finish();
}

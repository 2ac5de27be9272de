// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/skew/kernel.hpp"

namespace {

using namespace problems::skew;

void iterate(problem& p) {
  tbb::parallel_for(std::size_t{0}, p.results.size(), [&p](std::size_t i) { p.iteration(i); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { iterate(p); }); });
  return m.finish();
}

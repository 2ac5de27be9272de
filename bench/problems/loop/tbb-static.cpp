// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/loop/kernel.hpp"

namespace {

using namespace problems::loop;

void iterate(marks& all) {
  mark* const at = all.data();
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, all.size()),
      [at](const tbb::blocked_range<std::size_t>& part) { iterations(at, part.begin(), part.end()); },
      tbb::static_partitioner());
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { iterate(p.all); }); });
  return m.finish();
}

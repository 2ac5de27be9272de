// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/matmul/kernel.hpp"

namespace {

using namespace problems::matmul;

void multiply(problem& p) {
  tbb::parallel_for(tbb::blocked_range2d<std::size_t>(0, p.tiles(), 0, p.tiles()),
                    [&p](const tbb::blocked_range2d<std::size_t>& range) {
                      for (std::size_t i = range.rows().begin(); i != range.rows().end(); ++i)
                        for (std::size_t j = range.cols().begin(); j != range.cols().end(); ++j)
                          multiply_tile(p.a, p.b, p.c, i, j);
                    });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { multiply(p); }); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/taskflow.hpp>
#include "bench/problems/harness.hpp"
#include "bench/problems/skew/kernel.hpp"

namespace {

using namespace problems::skew;

// The graph is built once; each run of it is one loop.
tf::Taskflow describe(problem& p) {
  tf::Taskflow loop;
  loop.for_each_index(std::size_t{0}, p.results.size(), std::size_t{1}, [&p](std::size_t i) { p.iteration(i); });
  return loop;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  tf::Taskflow loop = describe(m.problem());
  m.run([&](problem&) { executor.run(loop).wait(); });
  return m.finish();
}

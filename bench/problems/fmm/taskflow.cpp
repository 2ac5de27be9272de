// SPDX-License-Identifier: Apache-2.0
// A graph with a node per tile and step, built once.
#include <taskflow/taskflow.hpp>

#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::fmm::problem> m(argc, argv);
  tf::Executor executor(m.workers());
  tf::Taskflow graph;
  problems::fmm::connect<tf::Task>(
      m.problem(), [&graph](const auto& work) { return graph.emplace(work); },
      [](tf::Task& earlier, tf::Task& later) { earlier.precede(later); });
  m.run([&](problems::fmm::problem&) { executor.run(graph).wait(); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
// A graph with a task per tile and step, built once.
#include "bench/problems/fmm/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "shoal/pool.hpp"
#include "shoal/task_graph.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::fmm::problem> m(argc, argv);
  using node = shoal::task_graph::handle;
  shoal::task_graph graph;
  problems::fmm::connect<node>(
      m.problem(), [&graph](const auto& work) { return graph.add(work); },
      [](const node& earlier, const node& later) { earlier.precedes(later); });
  shoal::pool pool(m.workers());
  pool.run([&] { m.run([&graph](problems::fmm::problem&) { graph.run(); }); });
  return m.finish();
}

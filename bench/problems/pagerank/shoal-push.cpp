// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/pagerank/kernel.hpp"
#include "examples/global/pagerank.hpp"

int main(int argc, char** argv) {
  using namespace problems::pagerank;
  problems::measurement<problem> m(argc, argv);
  const auto main_task = [&m] {
    const problem& given = m.problem();
    const auto g = shoal::global_graph<>::build(given.vertices, given.edges,
                                                {.way = shoal::graph::direction::forward, .drop_duplicates = false});
    const shoal::global_array<double> rank(given.vertices, shoal::like(g->degrees()));
    m.run([&](problem&) {
      examples::push_ranks(g, rank, k_rounds);
      std::vector<double> result(rank.size());
      rank->get(0, std::span(result));
      return result;
    });
  };
  const int status = shoal::run(main_task, {{{"workers", std::to_string(m.workers())}}});
  return status != 0 ? status : m.finish();
}

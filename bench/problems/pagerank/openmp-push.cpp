// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bench/problems/harness.hpp"
#include "bench/problems/pagerank/kernel.hpp"

int main(int argc, char** argv) {
  using namespace problems::pagerank;
  problems::measurement<problem> m(argc, argv);
  // Rows of out-neighbours: the in-neighbours of the graph with its edges turned round.
  std::vector<problems::random_edge> turned = m.problem().edges;
  for (auto& e : turned) std::swap(e.from, e.to);
  const auto out = problems::in_rows(turned, m.problem().vertices, false);
  m.run([workers = m.workers(), &out](problem& p) {
    const double base = (1 - k_damping) / static_cast<double>(p.vertices);
    std::vector<double> rank(p.vertices, 1 / static_cast<double>(p.vertices));
    std::vector<double> next(p.vertices, base);
#pragma omp parallel num_threads(workers)
    for (unsigned round = 0; round < k_rounds; ++round) {
#pragma omp for schedule(dynamic, 1024)
      for (std::size_t v = 0; v < p.vertices; ++v) {
        const double share = share_of(rank[v], p.out_degree[v]);
        for (const std::uint32_t u : out.row(v)) {
#pragma omp atomic
          next[u] += share;
        }
      }
#pragma omp for
      for (std::size_t v = 0; v < p.vertices; ++v) rank[v] = std::exchange(next[v], base);
    }
    return rank;
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/pagerank/kernel.hpp"

int main(int argc, char** argv) {
  using namespace problems::pagerank;
  problems::measurement<problem> m(argc, argv);
  m.run([](problem& p) {
    std::vector<double> rank(p.vertices, 1 / static_cast<double>(p.vertices));
    std::vector<double> share(p.vertices);
    for (unsigned round = 0; round < k_rounds; ++round) {
      for (std::size_t v = 0; v < p.vertices; ++v) share[v] = share_of(rank[v], p.out_degree[v]);
      for (std::size_t v = 0; v < p.vertices; ++v) rank[v] = pulled(p.in, share, v);
    }
    return rank;
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "bench/problems/components/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

// The least label of a vertex and its neighbours, until no label changes. Labels only fall, so it does not matter whether
// a neighbour's is of this round or of the one before.
std::vector<std::uint32_t> pull_labels(const problems::components::problem& p, unsigned workers) {
  std::vector<std::uint32_t> labels(p.vertices);
  std::iota(labels.begin(), labels.end(), 0u);
  for (bool changed = true; changed;) {
    changed = false;
#pragma omp parallel for num_threads(workers) schedule(dynamic, 1024) reduction(|| : changed)
    for (std::size_t v = 0; v < p.vertices; ++v) {
      std::atomic_ref<std::uint32_t> mine(labels[v]);
      const std::uint32_t before = mine.load(std::memory_order_relaxed);
      std::uint32_t least = before;
      for (const std::uint32_t u : p.rows.row(v))
        least = std::min(least, std::atomic_ref<std::uint32_t>(labels[u]).load(std::memory_order_relaxed));
      if (least < before) {
        mine.store(least, std::memory_order_relaxed);
        changed = true;
      }
    }
  }
  return labels;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace problems::components;
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { return pull_labels(p, workers); });
  return m.finish();
}

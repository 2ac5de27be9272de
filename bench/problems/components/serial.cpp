// SPDX-License-Identifier: Apache-2.0
// Joins sets: what one thread would rather do than pass labels on.
#include "bench/problems/components/kernel.hpp"
#include "bench/problems/harness.hpp"

int main(int argc, char** argv) {
  using namespace problems::components;
  problems::measurement<problem> m(argc, argv);
  m.run([](problem& p) {
    sets of(p.vertices);
    for (std::uint32_t v = 0; v < p.vertices; ++v)
      for (const std::uint32_t u : p.rows.row(v))
        if (u < v) of.join(u, v);
    return of.labels();
  });
  return m.finish();
}

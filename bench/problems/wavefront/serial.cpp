// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/wavefront/kernel.hpp"

int main(int argc, char** argv) {
  using namespace problems::wavefront;
  problems::measurement<problem> m(argc, argv);
  m.run([](problem& p) {
    for (unsigned i = 0; i < k_sweeps; ++i) serial(p.tiles);
  });
  return m.finish();
}

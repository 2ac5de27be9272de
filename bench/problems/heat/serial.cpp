// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/heat/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::heat::problem> m(argc, argv);
  m.run([](problems::heat::problem& p) { problems::heat::sweep_serially(p.grid, p.k_sweeps); });
  return m.finish();
}

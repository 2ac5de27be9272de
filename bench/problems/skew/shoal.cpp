// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/skew/kernel.hpp"
#include "shoal/loop.hpp"
#include "shoal/pool.hpp"

namespace {

using namespace problems::skew;

void iterate(problem& p) {
  shoal::parallel_for(std::size_t{0}, p.results.size(), [&p](std::size_t i) { p.iteration(i); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { iterate(p); }); });
  return m.finish();
}

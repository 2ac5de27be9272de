// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/loop/kernel.hpp"
#include "shoal/loop.hpp"
#include "shoal/pool.hpp"

namespace {

using namespace problems::loop;

void iterate(marks& all) {
  mark* const at = all.data();
  shoal::parallel_for(std::size_t{0}, all.size(), [at](std::size_t i) { iteration(at, i); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { iterate(p.all); }); });
  return m.finish();
}

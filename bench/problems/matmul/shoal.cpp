// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/matmul/kernel.hpp"
#include "shoal/loop.hpp"
#include "shoal/pool.hpp"
#include "shoal/range.hpp"

namespace {

using namespace problems::matmul;

void multiply(problem& p) {
  shoal::parallel_for(shoal::range2d(0, p.tiles(), 0, p.tiles()),
                      [&p](std::size_t i, std::size_t j) { multiply_tile(p.a, p.b, p.c, i, j); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { multiply(p); }); });
  return m.finish();
}

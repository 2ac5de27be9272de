// SPDX-License-Identifier: Apache-2.0
#include <boost/fiber/fiber.hpp>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/matmul/kernel.hpp"

namespace {

using namespace problems::matmul;

void multiply(problem& p) {
  std::vector<boost::fibers::fiber> tasks;
  for (std::size_t i = 0; i < p.tiles(); ++i)
    for (std::size_t j = 0; j < p.tiles(); ++j) tasks.emplace_back([&p, i, j] { multiply_tile(p.a, p.b, p.c, i, j); });
  for (boost::fibers::fiber& task : tasks) task.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](problem& p) { multiply(p); });
  return m.finish();
}

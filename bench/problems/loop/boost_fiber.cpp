// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/fiber/fiber.hpp>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/loop/kernel.hpp"

namespace {

using namespace problems::loop;

// Boost.Fiber has no loops: one fiber per share of the iterations, several shares per thread for load balance.
void iterate(marks& all, unsigned workers) {
  mark* const at = all.data();
  const std::size_t share = (all.size() + 4 * workers - 1) / (4 * workers);
  std::vector<boost::fibers::fiber> tasks;
  for (std::size_t first = 0; first < all.size(); first += share)
    tasks.emplace_back([at, first, last = std::min(first + share, all.size())] { iterations(at, first, last); });
  for (boost::fibers::fiber& task : tasks) task.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([workers = m.workers()](problem& p) { iterate(p.all, workers); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/fiber/future/async.hpp>
#include <boost/fiber/future/future.hpp>
#include <utility>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/wordcount/kernel.hpp"

namespace {

using namespace problems::wordcount;

// Boost.Fiber has no reductions: one fiber per share of the lines, several shares per thread for load balance.
table count(const text& t, unsigned workers) {
  const std::size_t share = std::max(k_grain_lines, (t.lines + 4 * workers - 1) / (4 * workers));
  std::vector<boost::fibers::future<table>> shares;
  for (std::size_t first = 0; first < t.lines; first += share)
    shares.push_back(boost::fibers::async([&t, first, last = std::min(first + share, t.lines)] {
      table counted;
      count_lines(t, first, last, counted);
      return counted;
    }));
  table all;
  for (auto& counted : shares) all.merge(counted.get());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([workers = m.workers()](problem& p) { return count(p.input, workers); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
// Mistakes of users that the compiler rejects with a message of Shoal: one case per value of REFUSED.
#include <functional>
#include <stop_token>
#include <utility>

#include "shoal/loop.hpp"
#include "shoal/task_flow.hpp"

void refused() {
  using namespace shoal;
#if REFUSED == 0  // valid code that is similar to the other cases
  affinity_partitioner kept;
  const std::stop_source source;
  const auto body = [](int) {};
  parallel_for(0, 10, body, kept, source.get_token(), simple_partitioner{4});
  parallel_reduce(
      0, 10, 0, [](const range1d& r, int sum) { return sum + static_cast<int>(r.size()); }, std::plus<>(),
      deterministic);
  parallel_reduce(
      0, 10, 0.0, [](int i) { return i; }, std::plus<>());
#elif REFUSED == 1
  parallel_for(0, 10, [n = 0](int) mutable { ++n; });
#elif REFUSED == 2
  parallel_for(range2d(0, 2, 0, 2), [](std::size_t) {});
#elif REFUSED == 3
  parallel_for(0, 10, simple_partitioner{3}, [](int) {});
#elif REFUSED == 4
  parallel_for(
      0, 10, [](int) {}, affinity_partitioner());
#elif REFUSED == 5
  parallel_for(
      0, 10, [](int) {}, deterministic);
#elif REFUSED == 6
  parallel_reduce(
      0, 10, 0, [](int i) { return i / 2.0; }, std::plus<>());
#elif REFUSED == 7
  const int constant = 1;
  out(constant);
#elif REFUSED == 8
  int x = 1;
  in(&x);
#endif
}

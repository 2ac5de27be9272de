// SPDX-License-Identifier: Apache-2.0
// Mistakes of users that the compiler rejects with a message of Shoal: one case per value of REFUSED.
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "shoal/parallel_for.hpp"
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
  parallel_reduce(
      10, 0, [](int i) { return i; }, std::plus<>(), deterministic);
  parallel_for(
      everywhere, 10, [](int) {}, simple_partitioner{4}, source.get_token(), stack_bytes(100'000));
  parallel_for(
      anywhere, 10, [](int) {}, simple_partitioner{4});
  anywhere_group group;
  group.run([](anywhere_tasks& tasks) { tasks.run([] {}); });
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
#elif REFUSED == 9
  parallel_for(
      here, 10, [](int) {}, 4);
#elif REFUSED == 10
  affinity_partitioner kept;
  parallel_for(
      everywhere, 10, [](int) {}, kept);
#elif REFUSED == 11
  parallel_for(owners_of(array_ref<int>()), range2d(0, 2, 0, 2), [](std::size_t, std::size_t) {});
#elif REFUSED == 12
  parallel_for(owners_of(array_ref<int>()), 10, [](const range1d&) {});
#elif REFUSED == 13
  parallel_for(
      elsewhere, 10, [](int) {}, deterministic);
#elif REFUSED == 14
  parallel_for(everywhere, 10, [n = 0](int) mutable { ++n; });
#elif REFUSED == 15
  parallel_for(anywhere, range2d(0, 2, 0, 2), [](std::size_t, std::size_t) {});
#elif REFUSED == 16
  const std::stop_source source;
  parallel_for(
      anywhere, 10, [](int) {}, source.get_token());
#elif REFUSED == 17
  parallel_reduce(
      anywhere, 10, 0, [](int i) { return i; }, std::plus<>());
#elif REFUSED == 18
  async_anywhere([s = std::string("text")] {});
#elif REFUSED == 19
  anywhere_group group;
  group.run([](int) {});
#endif
}

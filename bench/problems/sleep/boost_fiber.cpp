// SPDX-License-Identifier: Apache-2.0
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <boost/fiber/operations.hpp>
#include <memory>
#include <vector>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/sleep/kernel.hpp"

namespace {

using namespace problems::sleep;

constexpr std::size_t k_stack_bytes = 16 * 1024;

void sleep_all(const problem& p) {
  std::vector<boost::fibers::fiber> tasks;
  tasks.reserve(p.tasks);
  const clock::time_point start = clock::now();
  for (std::uint64_t i = 0; i < p.tasks; ++i)
    tasks.emplace_back(std::allocator_arg, boost::fibers::fixedsize_stack(k_stack_bytes), [&p, start, i] {
      const clock::time_point moment = problem::until(start, i);
      boost::this_fiber::sleep_until(moment);
      p.woke(moment);
    });
  for (boost::fibers::fiber& task : tasks) task.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](const problem& p) { sleep_all(p); });
  return m.finish();
}

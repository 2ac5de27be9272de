// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/harness.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  shoal::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  group.wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problems::fib::problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](const problems::fib::problem& p) { return fib(p.n); }); });
  return m.finish();
}

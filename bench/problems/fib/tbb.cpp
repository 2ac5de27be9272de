// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  group.wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problems::fib::problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](const problems::fib::problem& p) { return fib(p.n); }); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <taskflow/taskflow.hpp>

#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

using problems::fib::problem;

std::uint64_t fib(unsigned n, tf::Runtime& here) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  here.silent_async([&a, n](tf::Runtime& child) { a = fib(n - 1, child); });
  const std::uint64_t b = fib(n - 2, here);
  here.corun_all();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tf::Executor executor(m.workers());
  m.run([&executor](const problem& p) {
    std::uint64_t result = 0;
    executor.silent_async([&](tf::Runtime& here) { result = fib(p.n, here); });
    executor.wait_for_all();
    return result;
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <memory>

#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"

namespace {

// A quarter of the default, so that malloc reuses stacks instead of mapping each anew.
constexpr std::size_t k_stack_bytes = 32 * 1024;

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  boost::fibers::fiber child(std::allocator_arg, boost::fibers::fixedsize_stack(k_stack_bytes),
                             [&a, n] { a = fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  child.join();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problems::fib::problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](const problems::fib::problem& p) { return fib(p.n); });
  return m.finish();
}

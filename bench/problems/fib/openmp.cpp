// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/harness.hpp"

namespace {

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const std::uint64_t b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problems::fib::problem> m(argc, argv);
  m.run([workers = m.workers()](const problems::fib::problem& p) {
    std::uint64_t result = 0;
#pragma omp parallel num_threads(workers)
#pragma omp single
    result = fib(p.n);
    return result;
  });
  return m.finish();
}

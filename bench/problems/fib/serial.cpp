// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/fib/kernel.hpp"
#include "bench/problems/harness.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::fib::problem> m(argc, argv);
  m.run([](const problems::fib::problem& p) { return problems::fib::serial(p.n); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/nqueens/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::nqueens::problem> m(argc, argv);
  m.run([](const problems::nqueens::problem& p) {
    problems::nqueens::counts c{};
    problems::nqueens::serial(p.empty(), c);
    return c;
  });
  return m.finish();
}

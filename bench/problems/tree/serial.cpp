// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/tree/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::tree::problem> m(argc, argv);
  m.run([](const problems::tree::problem& p) {
    problems::tree::counts c{};
    problems::tree::serial(p, p.root(), c);
    return c;
  });
  return m.finish();
}

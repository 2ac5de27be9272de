// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::uts::problem> m(argc, argv);
  m.run([](const problems::uts::problem& p) {
    problems::uts::counts c{};
    problems::uts::serial(p, p.root(), c);
    return c;
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/flat/kernel.hpp"
#include "bench/problems/harness.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::flat::problem> m(argc, argv);
  m.run([](const problems::flat::problem& p) { problems::flat::run_serially(p.tasks); });
  return m.finish();
}

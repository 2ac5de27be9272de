// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/skew/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::skew::problem> m(argc, argv);
  m.run([](problems::skew::problem& p) { problems::skew::run_serially(p); });
  return m.finish();
}

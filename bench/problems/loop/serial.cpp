// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/loop/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::loop::problem> m(argc, argv);
  m.run([](problems::loop::problem& p) { problems::loop::run_serially(p.all); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  m.run([](problems::sort::problem& p) { std::sort(p.keys.begin(), p.keys.end()); });
  return m.finish();
}

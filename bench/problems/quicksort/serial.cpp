// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/quicksort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::quicksort::problem> m(argc, argv);
  m.run([](problems::quicksort::problem& p) {
    p.run([](auto* first, auto* last) { problems::quicksort::sort_serially(first, last); });
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/wordcount/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::wordcount::problem> m(argc, argv);
  m.run([](problems::wordcount::problem& p) { return problems::wordcount::count_serially(p.input); });
  return m.finish();
}

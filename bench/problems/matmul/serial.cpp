// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/matmul/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::matmul::problem> m(argc, argv);
  m.run([](problems::matmul::problem& p) { problems::matmul::multiply_serially(p.a, p.b, p.c); });
  return m.finish();
}

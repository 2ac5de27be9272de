// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/wake/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::wake::problem> m(argc, argv);
  m.problem().settle = [] {};
  m.run([](problems::wake::problem& p) {
    for (std::uint64_t i = 0; i < p.tasks; ++i) p.run_one();
  });
  return m.finish();
}

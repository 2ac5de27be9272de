// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/shared/kernel.hpp"

int main(int argc, char** argv) {
  using namespace problems::shared;
  problems::measurement<problem> m(argc, argv);
  m.run([](const problem& p) {
    return p.operate(
        0, p.operations, [](const auto& look) { look(); }, [](const auto& change) { change(); });
  });
  return m.finish();
}

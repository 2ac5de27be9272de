// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "bench/problems/harness.hpp"
#include "bench/problems/scan/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::scan::problem> m(argc, argv);
  m.run([](problems::scan::problem& p) {
    p.scan_by([](const auto& from, auto& to) { std::partial_sum(from.begin(), from.end(), to.begin()); });
  });
  return m.finish();
}

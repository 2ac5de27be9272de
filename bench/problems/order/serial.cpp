// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/order/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::order::problem> m(argc, argv);
  m.run([](problems::order::problem& p) {
    p.sort_by([](auto first, auto last, const auto& less) { std::sort(first, last, less); });
  });
  return m.finish();
}

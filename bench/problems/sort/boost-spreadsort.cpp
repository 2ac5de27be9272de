// SPDX-License-Identifier: Apache-2.0
// A radix sort of one thread.
#include <boost/sort/spreadsort/spreadsort.hpp>

#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  m.run([](problems::sort::problem& p) { boost::sort::spreadsort::spreadsort(p.keys.begin(), p.keys.end()); });
  return m.finish();
}

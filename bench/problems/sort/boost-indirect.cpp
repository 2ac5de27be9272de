// SPDX-License-Identifier: Apache-2.0
#include <boost/sort/sort.hpp>

#include "bench/problems/harness.hpp"
#include "bench/problems/sort/kernel.hpp"

int main(int argc, char** argv) {
  problems::measurement<problems::sort::problem> m(argc, argv);
  m.run([workers = m.workers()](problems::sort::problem& p) {
    boost::sort::block_indirect_sort(p.keys.begin(), p.keys.end(), workers);
  });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <boost/fiber/fiber.hpp>

#include "bench/problems/fiber_pool.hpp"
#include "bench/problems/harness.hpp"
#include "bench/problems/quicksort/kernel.hpp"

namespace {

using namespace problems::quicksort;

template <class Key>
void sort(Key* first, Key* last) {
  if (is_leaf(first, last)) return sort_leaf(first, last);
  Key* const cut = partition(first, last);
  boost::fibers::fiber child([=] { sort(first, cut); });
  sort(cut, last);
  child.join();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  const problems::fiber_pool pool(m.workers());
  m.run([](problem& p) { p.run([](auto* first, auto* last) { sort(first, last); }); });
  return m.finish();
}

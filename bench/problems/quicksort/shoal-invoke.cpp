// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/quicksort/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::quicksort;

template <class Key>
void sort(Key* first, Key* last) {
  if (is_leaf(first, last)) return sort_leaf(first, last);
  Key* const cut = partition(first, last);
  shoal::parallel_invoke([=] { sort(first, cut); }, [=] { sort(cut, last); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { p.run([](auto* first, auto* last) { sort(first, last); }); }); });
  return m.finish();
}

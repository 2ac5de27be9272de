// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/quicksort/kernel.hpp"

namespace {

using namespace problems::quicksort;

template <class Key>
void sort(Key* first, Key* last) {
  if (is_leaf(first, last)) return sort_leaf(first, last);
  Key* const cut = partition(first, last);
  tbb::parallel_invoke([=] { sort(first, cut); }, [=] { sort(cut, last); });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { p.run([](auto* first, auto* last) { sort(first, last); }); }); });
  return m.finish();
}

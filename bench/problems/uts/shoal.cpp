// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::uts;

counts search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  if (children == 0) return leaf(n);
  child_counts below(children);
  shoal::task_group group;
  for (unsigned i = 0; i + 1 < children; ++i)
    group.run([&p, &n, &mine = below[i], i] { mine = search(p, p.child(n, i)); });
  below[children - 1] = search(p, p.child(n, children - 1));
  group.wait();
  return total(n, below, children);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  // T3 is 1572 levels deep and children run on their parent's stack: more room for each, fewer of them.
  shoal::pool pool({.workers = m.workers(), .settings = {{"stack", "4M"}, {"stacks", "64K"}}});
  pool.run([&m] { m.run([](const problem& p) { return search(p, p.root()); }); });
  return m.finish();
}

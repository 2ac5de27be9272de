// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"
#include "shoal/pool.hpp"
#include "shoal/task.hpp"

namespace {

using namespace problems::uts;

void search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  tally::here().visit(n.depth, children);
  if (children == 0) return;
  shoal::task_group group;
  for (unsigned i = 0; i + 1 < children; ++i) group.run([&p, &n, i] { search(p, p.child(n, i)); });
  search(p, p.child(n, children - 1));
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  // T3 is 1572 levels deep and children run on their parent's stack: larger and fewer stacks.
  shoal::pool pool({.workers = m.workers(), .settings = {{"stack", "4M"}, {"stacks", "64K"}}});
  pool.run([&m] {
    m.run([](const problem& p) {
      search(p, p.root());
      return tally::take();
    });
  });
  return m.finish();
}

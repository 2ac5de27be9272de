// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/problems/harness.hpp"
#include "bench/problems/uts/kernel.hpp"

namespace {

using namespace problems::uts;

void search(const problem& p, const node& n) {
  const unsigned children = p.children(n);
  tally::here().visit(n.depth, children);
  if (children == 0) return;
  tbb::task_group group;
  for (unsigned i = 0; i + 1 < children; ++i) group.run([&p, &n, i] { search(p, p.child(n, i)); });
  search(p, p.child(n, children - 1));
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  // T3 is 1572 levels deep, and waiting threads run other tasks on top; costs address space only.
  tbb::global_control stack(tbb::global_control::thread_stack_size, std::size_t{256} << 20);
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] {
    m.run([](const problem& p) {
      search(p, p.root());
      return tally::take();
    });
  });
  return m.finish();
}

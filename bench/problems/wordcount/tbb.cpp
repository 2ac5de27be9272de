// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>
#include <utility>

#include "bench/problems/harness.hpp"
#include "bench/problems/wordcount/kernel.hpp"

namespace {

using namespace problems::wordcount;

struct counter {
  explicit counter(const text& t) : input(t) {}
  counter(counter& other, tbb::split) : input(other.input) {}
  void operator()(const tbb::blocked_range<std::size_t>& lines) {
    count_lines(input, lines.begin(), lines.end(), counted);
  }
  void join(counter& other) { counted.merge(std::move(other.counted)); }

  const text& input;
  table counted;
};

table count(const text& t) {
  counter all(t);
  tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, t.lines, k_grain_lines), all);
  return std::move(all.counted);
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, m.workers());
  tbb::task_arena arena(static_cast<int>(m.workers()));
  arena.execute([&m] { m.run([](problem& p) { return count(p.input); }); });
  return m.finish();
}

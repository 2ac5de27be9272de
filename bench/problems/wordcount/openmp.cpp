// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bench/problems/harness.hpp"
#include "bench/problems/wordcount/kernel.hpp"

namespace {

using namespace problems::wordcount;

#pragma omp declare reduction(merge:table : omp_out.merge(std::move(omp_in)))

table count(const text& t, unsigned workers) {
  table counted;
#pragma omp parallel for schedule(dynamic, k_grain_lines) reduction(merge : counted) num_threads(workers)
  for (std::size_t line = 0; line < t.lines; ++line) count_lines(t, line, line + 1, counted);
  return counted;
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([workers = m.workers()](problem& p) { return count(p.input, workers); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bench/problems/harness.hpp"
#include "bench/problems/wordcount/kernel.hpp"
#include "shoal/loop.hpp"
#include "shoal/pool.hpp"
#include "shoal/range.hpp"

namespace {

using namespace problems::wordcount;

table count(const text& t) {
  return shoal::parallel_reduce(
      shoal::range1d(0, t.lines, k_grain_lines), table(),
      [&t](const shoal::range1d& lines, table counted) {
        count_lines(t, lines.begin(), lines.end(), counted);
        return counted;
      },
      [](table some, table others) {
        some.merge(std::move(others));
        return some;
      });
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  shoal::pool pool(m.workers());
  pool.run([&m] { m.run([](problem& p) { return count(p.input); }); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
// One thread that goes from moment to moment: what no runtime does better than but by waking several at once.
#include <algorithm>
#include <thread>
#include <vector>

#include "bench/problems/harness.hpp"
#include "bench/problems/sleep/kernel.hpp"

namespace {

using namespace problems::sleep;

void sleep_all(const problem& p) {
  const clock::time_point start = clock::now();
  std::vector<clock::time_point> moments;
  for (std::uint64_t i = 0; i < p.tasks; ++i) moments.push_back(problem::until(start, i));
  std::sort(moments.begin(), moments.end());
  for (const clock::time_point moment : moments) {
    std::this_thread::sleep_until(moment);
    p.woke(moment);
  }
}

}  // namespace

int main(int argc, char** argv) {
  problems::measurement<problem> m(argc, argv);
  m.run([](const problem& p) { sleep_all(p); });
  return m.finish();
}

// SPDX-License-Identifier: Apache-2.0
// Two jobs in one process, one after the other, with different shapes; and main tasks from a second thread.
#include <shoal/shoal.hpp>

#include <cstdio>
#include <string>
#include <thread>

namespace {

std::uint64_t sum_over(unsigned nodes, std::uint64_t n) {
  shoal::job job({.settings = {{"nodes", std::to_string(nodes)}, {"workers", "2"}, {"segment", "64M"}}});
  if (job.nodes() != nodes) return 0;
  std::uint64_t in_thread = 0;
  const auto sum = [n] {
    shoal::global_array<std::uint64_t> total(1);
    shoal::parallel_for(shoal::everywhere, n, [t = total.ref()](std::uint64_t i) { t.async_add(0, i); });
    return total->get(0);
  };
  std::thread other([&] { in_thread = job.run(sum); });
  const std::uint64_t here = job.run(sum);
  other.join();
  job.end();
  return here == in_thread ? here : 0;
}

}  // namespace

int main() {
  const bool right = sum_over(1, 1000) == 499500 && sum_over(3, 2000) == 1999000;
  std::puts(right ? "both jobs are right" : "a job is wrong");
  return right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A job of two nodes in this process on virtual time: workers, doorbells, the service activity and the helpers wait on
// the executor only, and what arrives does not depend on the schedule.
#include <gtest/gtest.h>

#include <set>

#include "runtime/config.hpp"
#include "runtime/job.hpp"
#include "runtime/service.hpp"
#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"
#include "unit/machine/virtual_executor.hpp"

namespace shoal::runtime {
namespace {

constexpr std::uint64_t k_s = 1'000'000'000;

config two_nodes(machine::executor& by, const char* helpers) {
  auto s = all_settings();
  s.set("nodes", "2");
  s.set("workers", "2");
  s.set("transport", "inproc");
  s.set("direct", "off");
  s.set("pin", "off");
  s.set("segment", "4M");
  s.set("helpers", helpers);
  config c = read_config(s);
  c.executor = &by;
  return c;
}

// Blocks the calling worker.
void block_for(machine::executor& by, std::uint64_t ns) {
  std::atomic<std::uint32_t> never{0};
  by.wait(never, 0, static_cast<std::int64_t>(ns), false);
}

TEST(job_on_virtual_time, adds_up_in_every_schedule) {
  std::set<std::uint64_t> schedules;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    machine::virtual_executor by(seed, 1'000 * k_s);
    std::uint64_t sum = 0;
    by.run([&] {
      run_in_process(two_nodes(by, seed % 2 == 0 ? "1" : "0"), [&] {
        global_array<std::uint64_t> a(64, distribution::cyclic);
        for (int round = 0; round < 3; ++round) {
          block_for(by, k_s);  // all others sleep
          parallel_for(everywhere, 256, [r = a.ref()](std::uint64_t i) {
            r.add(i % r.size(), 1);
            r.async_add((i + 1) % r.size(), 1);
          });
        }
        for (std::uint64_t i = 0; i < a.size(); ++i) sum += a->get(i);
        return 0;
      });
    });
    EXPECT_EQ(sum, 3U * 512U) << "seed " << seed;
    EXPECT_GE(by.now_ns(), 3 * k_s);
    schedules.insert(by.schedule());
  }
  EXPECT_EQ(schedules.size(), 6U);
}

}  // namespace
}  // namespace shoal::runtime

// SPDX-License-Identifier: Apache-2.0
// Back-pressure on calls: what waits on a node that does not begin calls is bounded, and so is what waits at the callers.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <fstream>
#include <thread>

#include "shoal/on.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

class credits : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(credits);

using shoal::test::job_shape;
class busy_callee : public shoal::test::cluster {};
INSTANTIATE_TEST_SUITE_P(some, busy_callee,
                         testing::Values(job_shape{2, 1, false}, job_shape{2, 1, true}, job_shape{3, 1, false}),
                         shoal::test::name_of);

std::uint64_t resident_bytes() {
  std::uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * 4096;
}

// All nodes are in this process. Node 1 polls and begins nothing until it is released.
std::atomic<bool> busy, released;
std::atomic<std::uint64_t> issued, issued_before_release, grown_bytes;

// Releases node 1 when nobody has issued a call for some time.
std::thread release_when_nothing_is_issued() {
  busy = released = false;
  issued = 0;
  return std::thread([before_bytes = resident_bytes()] {
    while (!busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    int quiet = 0;
    for (std::uint64_t seen = 0; quiet < 400; ++quiet) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (const std::uint64_t now = issued; now != seen || now == 0) {
        seen = now;
        quiet = 0;
      }
    }
    issued_before_release = issued.load();
    grown_bytes = resident_bytes() - std::min(resident_bytes(), before_bytes);
    released = true;
  });
}

shoal::future<void> occupy_node_1() {
  auto occupied = shoal::async_on(1, [] {
    busy = true;
    while (!released) shoal::poll();
  });
  shoal::flush();
  while (!busy) shoal::yield();
  return occupied;
}

struct kibibyte {
  std::array<std::uint64_t, 128> words;
  std::uint64_t operator()() const { return words[0] + words[127]; }
};

void call_node_1(std::uint64_t calls) {
  std::deque<shoal::future<std::uint64_t>> all;
  for (std::uint64_t i = 0; i < calls; ++i) {
    kibibyte k{};
    k.words[0] = i;
    k.words[127] = 1;
    all.push_back(shoal::async_on(1, k));
    ++issued;
  }
  for (std::uint64_t i = 0; i < calls; ++i) ASSERT_EQ(all[i].get(), i + 1);
}

TEST_P(busy_callee, holds_an_outermost_task_that_calls_it) {
  std::thread releases = release_when_nothing_is_issued();
  auto c = config();
  c.call_memory = std::uint64_t{1} << 20 << (nodes() - 1);
  const std::uint64_t window_bytes = c.call_memory / nodes();
  shoal::runtime::run_in_process(c, [] {
    const auto occupied = occupy_node_1();
    call_node_1(100'000);
    return 0;
  });
  releases.join();
  EXPECT_LE(issued_before_release, window_bytes / 1024 + 1);
  EXPECT_GE(issued_before_release, window_bytes / 2048);  // the window is used
  EXPECT_LT(grown_bytes, std::uint64_t{64} << 20);        // all calls would take more than 100 MiB
}

TEST_P(busy_callee, holds_the_iterations_of_an_outermost_loop) {
  std::thread releases = release_when_nothing_is_issued();
  auto c = config();
  c.call_memory = std::uint64_t{1} << 20;
  shoal::runtime::run_in_process(c, [] {
    const auto occupied = occupy_node_1();
    shoal::parallel_for(shoal::here, 20'000, [](std::uint64_t i) {
      kibibyte k{};
      k.words[0] = i;
      auto later = shoal::async_on(1, k);
      ++issued;
      EXPECT_EQ(later.get(), i);
    });
    return 0;
  });
  releases.join();
  EXPECT_LE(issued_before_release, (std::uint64_t{1} << 20) / nodes() / 1024 + 1);
}

TEST_P(busy_callee, gets_the_calls_of_nested_tasks_when_it_begins_those_before) {
  std::thread releases = release_when_nothing_is_issued();
  auto c = config();
  c.call_memory = std::uint64_t{1} << 20;
  c.overflow_memory = std::uint64_t{64} << 20;
  shoal::runtime::run_in_process(c, [] {
    const auto occupied = occupy_node_1();
    shoal::on(0, [] { call_node_1(20'000); });
    return 0;
  });
  releases.join();
  EXPECT_EQ(issued_before_release, 20'000U);  // nested tasks are not held
}

TEST_P(busy_callee, exhausts_the_memory_for_calls_of_nested_tasks) {
  if (GetParam().direct) return;
  EXPECT_EXIT(
      {
        std::thread releases = release_when_nothing_is_issued();
        auto c = config();
        c.overflow_memory = std::uint64_t{4} << 20;
        shoal::runtime::run_in_process(c, [] {
          const auto occupied = occupy_node_1();
          shoal::on(0, [] { call_node_1(20'000); });
          return 0;
        });
        releases.join();
      },
      testing::ExitedWithCode(3), "exhausted: nested tasks call node 1 .*4.0 MiB .*SHOAL_OVERFLOW_MEMORY");
}

// Each calls two of the next node, and waits for both.
struct tree {
  std::uint32_t left;
  std::uint32_t nodes;
  std::uint64_t operator()() const {
    if (left == 0) return 1;
    const std::uint32_t next = (shoal::node_id() + 1) % nodes;
    auto first = shoal::async_on(next, tree{left - 1, nodes});
    return shoal::on(next, tree{left - 1, nodes}) + first.get();
  }
};

TEST_P(credits, return_in_mutual_recursion) {
  auto c = config();
  c.call_memory = 1 << 16;  // the least window: most calls wait for credit
  const std::uint64_t before_bytes = resident_bytes();
  for (int round = 0; round < 4; ++round)
    shoal::runtime::run_in_process(c, [this] {
      EXPECT_EQ(shoal::on(nodes() - 1, tree{11, nodes()}), 1U << 11);
      return 0;
    });
  const std::uint64_t now_bytes = resident_bytes();
  EXPECT_LT(now_bytes - std::min(now_bytes, before_bytes), std::uint64_t{512} << 20);
}

TEST_P(credits, return_where_many_call_all) {
  auto c = config();
  c.call_memory = 1 << 16;
  shoal::runtime::run_in_process(c, [this] {
    const std::uint32_t n = nodes();
    shoal::global_array<std::uint64_t> a(n);
    shoal::parallel_for(shoal::everywhere, 4000, [r = a.ref(), n](std::uint64_t i) {
      const auto to = static_cast<std::uint32_t>(i % n);
      shoal::on(to,
                [r, to] { shoal::parallel_for(shoal::everywhere, 4, [r, to](std::uint64_t) { r.async_add(to, 1); }); });
    });
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(a->get(i), 4 * (4000 / n + (i < 4000 % n ? 1 : 0)));
    return 0;
  });
}

}  // namespace

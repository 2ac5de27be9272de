// SPDX-License-Identifier: Apache-2.0
// Tests the table for debuggers: a walk along it, from the thread's current worker to a waiting task, finds what is there.
// What a debugger makes of it: tests/gdb.
#include "sched/debug_layout.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>

#include "machine/executor.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace {

using shoal::sched::pool;
using shoal::sched::worker;

std::map<std::string, std::uint64_t> layout_by_name() {
  std::map<std::string, std::uint64_t> found;
  for (const auto& e : shoal_debug_layout)
    if (e.name[0] != 0) found.emplace(e.name.data(), e.value);
  return found;
}

template <class T>
T at(const void* object, std::uint64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(object) + offset, sizeof value);
  return value;
}

TEST(debug_layout, names_are_distinct_and_end) {
  std::size_t named = 0;
  while (shoal_debug_layout[named].name[0] != 0) ++named;
  EXPECT_EQ(shoal_debug_layout[0].name.data(), std::string("version"));
  EXPECT_EQ(layout_by_name().size(), named);
  EXPECT_LT(named, shoal_debug_layout.size());
}

TEST(debug_layout, leads_from_the_worker_to_its_pool_and_the_tasks) {
  auto offsets = layout_by_name();
  pool p{shoal::sched::pool_options()};
  p.run([&] {
    shoal::latch gate(1);
    shoal::task_group group;
    std::atomic<const void*> waiting{nullptr};
    group.run([&] {
      waiting = shoal::sched::this_worker()->current();
      gate.wait();
    });
    shoal::yield();
    const worker* const w = shoal::sched::this_worker();
    const auto* const signs = at<const std::byte*>(w, offsets.at("worker.signs"));
    const void* const found_pool = signs - offsets.at("pool.signs_");
    EXPECT_EQ(found_pool, &p);
    const void* const* const workers = at<const void* const*>(found_pool, offsets.at("pool.workers_"));
    EXPECT_EQ(workers[0], &p.at(0));
    EXPECT_EQ(at<const void*>(w, offsets.at("worker.current_")), w->running());
    ASSERT_NE(waiting.load(), nullptr);
    EXPECT_EQ(at<const void*>(at<const void*>(waiting.load(), offsets.at("fiber.notes")), offsets.at("stack_notes.of")),
              waiting.load());
    EXPECT_EQ(at<std::uint8_t>(waiting.load(), offsets.at("fiber.waits_as")), offsets.at("wait.latch"));
    gate.count_down();
    group.wait();
  });
}

TEST(debug_layout, finds_the_lengths_of_deques) {
  auto offsets = layout_by_name();
  shoal::lockfree::deque<int> d;
  int items[3] = {};
  for (int& i : items) d.push(&i);
  EXPECT_EQ(at<std::int64_t>(&d, offsets.at("bottom")), 3);
  EXPECT_EQ(at<std::int64_t>(&d, 0), 0);
  EXPECT_EQ(d.steal().item, &items[0]);
  EXPECT_EQ(at<std::int64_t>(&d, 0) >> 7, 1);
}

#if defined(__x86_64__)
TEST(debug_layout, tells_where_threads_have_their_worker) {
  const auto* const here = static_cast<const std::byte*>(__builtin_thread_pointer());
  EXPECT_EQ(static_cast<const void*>(here + shoal_debug_worker_offset()), &shoal::detail::t_worker);
}
#endif

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Progress: more nodes than processors, tasks that compute for long, buffers that nobody pushes, and rest when idle.
#include <sched.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/cluster/cluster.hpp"
#include "tests/cluster/job_process.hpp"
#include "tests/unit/machine/in_child.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using shoal::distribution;
using shoal::everywhere;
using shoal::global_array;

class progress : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(progress);

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

bool stay_on_one_processor() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  for (int p = 0; p < CPU_SETSIZE; ++p)
    if (CPU_ISSET(p, &allowed)) {
      CPU_ZERO(&allowed);
      CPU_SET(p, &allowed);
      return ::sched_setaffinity(0, sizeof allowed, &allowed) == 0;
    }
  return false;
}

TEST_P(progress, on_a_single_processor) {
  const int status = shoal::machine::in_child([this] {
    ::alarm(60);
    if (!stay_on_one_processor()) return 2;
    std::uint64_t sum = 0;
    run([&] {
      global_array<std::uint64_t> a(1 << 10, distribution::cyclic);
      shoal::parallel_for(everywhere, 1 << 14, [r = a.ref()](std::uint64_t i) {
        r.add(i % r.size(), 1);
        r.async_add((i + 1) % r.size(), 1);
      });
      for (unsigned n = 0; n < nodes(); ++n) shoal::on(n, [r = a.ref()] { r.fetch_add(0, 0); });
      shoal::spmd([](shoal::team& t) {
        for (int round = 0; round < 100; ++round) t.barrier();
      });
      for (std::uint64_t i = 0; i < a.size(); ++i) sum += a->get(i);
    });
    return sum == 2 << 14 ? 0 : 1;
  });
  EXPECT_TRUE(shoal::machine::exited_with(status, 0)) << status;
}

TEST(progress_of_processes, on_a_single_processor) {
  for (const char* direct : {"on", "off"}) {
    auto command = shoal::test::launch({"-n", "3", "-w", "2", "--direct", direct},
                                       {shoal::test::program("cluster_faults"), "works"});
    command.insert(command.begin(), {"taskset", "-c", std::to_string(::sched_getcpu())});
    const auto got = shoal::test::run(std::move(command));
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("works on 3")) << got;
  }
}

TEST(progress_of_processes, a_node_that_computes_for_long_is_not_taken_for_dead) {
  for (const char* workers : {"1", "2"}) {
    const auto got = shoal::test::run(
        shoal::test::launch({"-n", "3", "-w", workers}, {shoal::test::program("cluster_faults"), "compute"}));
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_GE(got.seconds, 1.4);
  }
}

// A node whose only worker computes answers through a thread that does nothing else.
TEST(progress_by_helpers, a_node_answers_while_its_worker_computes) {
  for (const unsigned helpers : {1U, 2U}) {
    auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
    c.nodes = 2;
    c.workers = 1;
    c.direct = false;
    c.pin = false;
    c.segment_bytes = std::uint64_t{64} << 20;
    c.helpers = helpers;
    shoal::runtime::run_in_process(c, [] {
      global_array<std::uint64_t> a(2 * 1000, distribution::partition);
      std::atomic<int> state{0};  // both nodes are in this process
      auto there = shoal::async_on(1, [&state] {
        state = 1;
        while (state.load() != 2) std::this_thread::yield();  // looks at no messages
      });
      shoal::flush();
      while (state.load() != 1) shoal::yield();
      std::vector<std::uint64_t> values(1000);
      for (std::uint64_t i = 0; i < 1000; ++i) values[i] = i * i;
      a->put(1000, std::span<const std::uint64_t>(values));
      for (std::uint64_t i = 0; i < 1000; ++i) a->async_add(1000 + i, 1);
      shoal::wait();
      for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(a->get(1000 + i), i * i + 1);
      state = 2;
      there.get();
      return 0;
    });
  }
}

// What a busy task has begun arrives although it neither waits nor flushes, nor fills a buffer: it only polls.
TEST_P(progress, what_a_busy_task_has_begun_arrives_if_it_polls) {
  run([this] {
    global_array<std::uint64_t> flag(nodes());
    global_array<std::uint64_t> answer(nodes());
    const std::uint32_t last = nodes() - 1;
    auto there = shoal::async_on(last, [f = flag.ref(), a = answer.ref(), last] {
      while (f.get(last) == 0) {
        shoal::yield();
        std::this_thread::yield();
      }
      a.put(0, 1);
    });
    if (nodes() == 1) shoal::yield();
    flag->async_put(last, 1);
    if (nodes() == 1) {  // the other task is on this very worker
      there.get();
      return;
    }
    std::atomic_ref<std::uint64_t> arrived(answer->local()[0]);
    const auto end = clock_type::now() + 20s;
    while (arrived.load() == 0 && clock_type::now() < end) {
      shoal::poll();
      std::this_thread::yield();
    }
    EXPECT_EQ(arrived.load(), 1U);
    there.get();
  });
}

// The same of a task that makes only bare accesses to memory that is mapped here, each of which looks for attention.
TEST_P(progress, what_a_busy_task_has_begun_arrives_if_it_accesses_memory) {
  if (nodes() == 1) return run([] {});
  run([this] {
    global_array<std::uint64_t> flag(nodes());
    global_array<std::uint64_t> answer(nodes());
    const std::uint32_t last = nodes() - 1;
    auto there = shoal::async_on(last, [f = flag.ref(), a = answer.ref(), last] {
      while (f.get(last) == 0) {
        shoal::yield();
        std::this_thread::yield();
      }
      a.put(0, 1);
    });
    shoal::flush();
    flag->async_put(last, 1);
    const auto end = clock_type::now() + 20s;
    while (answer->get(0) == 0 && clock_type::now() < end) std::this_thread::yield();
    EXPECT_EQ(answer->get(0), 1U);
    there.get();
  });
}

// While one task computes, another worker of its node serves the messages that come for it.
TEST(progress_of_workers, a_sibling_serves_for_a_busy_worker) {
  auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
  c.nodes = 2;
  c.workers = 2;
  c.direct = c.pin = false;
  c.segment_bytes = std::uint64_t{1} << 30;
  c.most_stacks = 1 << 14;
  shoal::runtime::run_in_process(c, [] {
    static std::atomic<bool> enough;
    static std::atomic<int> busy;
    enough = false;
    busy = 0;
    global_array<std::uint64_t> a(200);
    auto computing = shoal::async_on(1, [] {
      busy = 1;
      for (const auto end = clock_type::now() + 20s; !enough && clock_type::now() < end;) {
      }
    });
    shoal::flush();
    while (busy == 0) shoal::yield();
    for (std::uint64_t i = 140; i < 160; ++i) a->put(i, i);  // on node 1, by messages
    EXPECT_EQ(a->get(150), 150U);
    const bool in_time = !enough;
    enough = true;
    computing.get();
    EXPECT_TRUE(in_time);
    return 0;
  });
}

TEST_P(progress, an_idle_job_uses_no_processor) {
  run([this] {
    const double before = processor_seconds();
    // One thread of the last node sleeps in the system; all others have nothing to do.
    shoal::on(nodes() - 1, [] { std::this_thread::sleep_for(1s); });
    // Nobody rings for what comes over a network library: each worker looks now and then, which costs a little.
    const bool rings = config().transport != "ucx" && config().transport != "mpi";
    EXPECT_LT(processor_seconds() - before, rings ? 0.3 : std::max(0.3, 0.1 * nodes() * GetParam().workers));
  });
}

}  // namespace

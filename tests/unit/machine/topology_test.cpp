// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <filesystem>
#include <latch>
#include <map>
#include <set>
#include <shoal/error.hpp>
#include <thread>

#include "in_child.hpp"
#include "machine/thread_id.hpp"

namespace shoal::machine {
namespace {

// How many of the chosen processors lie in each of something.
template <class Member>
std::map<unsigned, int> spread(const topology& machine, const std::vector<unsigned>& pus, Member member) {
  std::map<unsigned, int> counts;
  for (const unsigned pu : pus) {
    for (const processor& one : machine.processors()) {
      if (one.pu == pu) ++counts[one.*member];
    }
  }
  return counts;
}

std::vector<unsigned> all_pus(const topology& machine, unsigned nodes, unsigned workers) {
  std::vector<unsigned> all;
  for (unsigned node = 0; node < nodes; ++node) {
    const placement one = machine.choose(nodes, node, workers);
    EXPECT_EQ(one.pus.size(), workers);
    all.insert(all.end(), one.pus.begin(), one.pus.end());
  }
  return all;
}

TEST(topology, a_synthetic_machine_is_as_described) {
  const topology machine = topology::synthetic("package:2 l3:2 core:4 pu:2");
  EXPECT_EQ(machine.processors().size(), 32U);
  EXPECT_EQ(machine.cores(), 16U);
  EXPECT_EQ(machine.packages(), 2U);
  EXPECT_EQ(machine.usable_processors(), 32U);
  EXPECT_EQ(machine.affinity(), "0-31");
  EXPECT_EQ(machine.processors()[31].l3, 3U);
  EXPECT_THROW(topology::synthetic("nonsense:"), error);
}

TEST(topology, the_last_level_may_be_left_out_and_too_many_are_refused) {
  EXPECT_EQ(topology::synthetic("package:4 l3:1 core:6").processors().size(), 24U);
  EXPECT_EQ(topology::synthetic("package:2 [numa(memory=64GB)] core:3 pu:2").processors().size(), 12U);
  for (const char* text : {"", "package:0", "core", "package:2 cores:2", "package:65537", "package:1000 core:1000",
                           "package:99999999999999999999"})
    EXPECT_THROW(topology::synthetic(text), error) << text;
}

TEST(topology, processors_share_the_nearest_thing) {
  const topology machine = topology::synthetic("package:2 numa:2 l3:2 l2:2 core:2 pu:2");
  const auto all = machine.processors();
  EXPECT_EQ(shared_by(all[0], all[1]), sharing::core);
  EXPECT_EQ(shared_by(all[0], all[2]), sharing::l2);
  EXPECT_EQ(shared_by(all[0], all[4]), sharing::l3);
  EXPECT_EQ(shared_by(all[0], all[8]), sharing::numa);
  EXPECT_EQ(shared_by(all[0], all[16]), sharing::package);
  EXPECT_EQ(shared_by(all[0], all[32]), sharing::machine);
  EXPECT_EQ(shared_by(all[63], all[32]), sharing::package);
}

TEST(topology, a_placement_says_where_each_worker_is) {
  const topology machine = topology::synthetic("package:2 core:4 pu:2");
  for (const unsigned workers : {1U, 3U, 8U, 16U, 40U}) {
    const placement one = machine.choose(1, 0, workers);
    ASSERT_EQ(one.where.size(), workers);
    for (unsigned w = 0; w < workers; ++w) EXPECT_EQ(one.where[w].pu, one.pus[w]);
  }
}

TEST(topology, nodes_of_one_machine_take_different_cores) {
  const topology machine = topology::synthetic("package:2 core:8 pu:2");
  for (const unsigned nodes : {1U, 2U, 3U, 4U, 5U, 8U, 16U}) {
    for (unsigned workers = 1; nodes * workers <= machine.cores(); ++workers) {
      const auto pus = all_pus(machine, nodes, workers);
      for (const auto& [core, users] : spread(machine, pus, &processor::core)) {
        EXPECT_EQ(users, 1) << nodes << " nodes, " << workers << " workers, core " << core;
      }
    }
  }
}

TEST(topology, hardware_threads_are_used_once_each_before_they_are_shared) {
  const topology machine = topology::synthetic("package:2 core:3 pu:2");
  for (const unsigned nodes : {1U, 2U, 3U, 4U, 6U, 12U}) {
    for (unsigned workers = 1; nodes * workers <= 12; ++workers) {
      const auto pus = all_pus(machine, nodes, workers);
      EXPECT_EQ(std::set<unsigned>(pus.begin(), pus.end()).size(), pus.size()) << nodes << " x " << workers;
    }
  }
}

TEST(topology, a_few_workers_spread_over_packages_and_nodes_keep_together) {
  const topology machine = topology::synthetic("package:2 core:8 pu:1");
  EXPECT_EQ(spread(machine, machine.choose(1, 0, 4).pus, &processor::package),
            (std::map<unsigned, int>{{0, 2}, {1, 2}}));
  EXPECT_EQ(spread(machine, machine.choose(2, 0, 4).pus, &processor::package), (std::map<unsigned, int>{{0, 4}}));
  EXPECT_EQ(spread(machine, machine.choose(2, 1, 4).pus, &processor::package), (std::map<unsigned, int>{{1, 4}}));
}

TEST(topology, too_many_workers_share_in_turn_and_are_not_pinned) {
  const topology machine = topology::synthetic("core:2 pu:1");
  const auto pus = all_pus(machine, 3, 2);
  EXPECT_EQ(spread(machine, pus, &processor::core), (std::map<unsigned, int>{{0, 3}, {1, 3}}));
  const placement one = machine.choose(3, 0, 2);
  EXPECT_TRUE(one.oversubscribed);
  EXPECT_FALSE(one.pin);
  EXPECT_EQ(one.note, "6 workers share 2 processors; they are not pinned");
}

TEST(topology, workers_that_fit_are_pinned) {
  const topology machine = topology::synthetic("core:2 pu:1");
  const placement one = machine.choose(2, 1, 1);
  EXPECT_TRUE(one.pin);
  EXPECT_FALSE(one.oversubscribed);
  EXPECT_EQ(one.note, "");
}

TEST(topology, a_quota_limits_workers_and_unpins_them) {
  const topology machine = topology::synthetic("core:8 pu:1", 2.5);
  EXPECT_EQ(machine.usable_processors(), 3U);
  const placement one = machine.choose(1, 0, 2);
  EXPECT_FALSE(one.pin);
  EXPECT_FALSE(one.oversubscribed);
  EXPECT_EQ(one.note, "the control group gives 2.50 of 8 processors; workers are not pinned");
  EXPECT_EQ(topology::synthetic("core:8 pu:1", 0.1).usable_processors(), 1U);
  EXPECT_TRUE(topology::synthetic("core:8 pu:1", 8.0).choose(1, 0, 2).pin);
}

TEST(topology, this_machine_has_what_the_kernel_allows) {
  const topology machine = topology::discover();
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(machine.processors().size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const processor& one : machine.processors()) EXPECT_TRUE(CPU_ISSET(one.pu, &set)) << one.pu;
  EXPECT_GE(machine.cores(), 1U);
  EXPECT_GE(machine.numa_nodes(), 1U);
}

TEST(topology, a_narrower_mask_is_obeyed) {
  const unsigned only = topology::discover().processors().back().pu;
  const int status = in_child([only] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(only, &set);
    // Every thread, as taskset would have it: a sanitizer may have one of its own.
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      if (::sched_setaffinity(std::stoi(thread.path().filename()), sizeof set, &set) != 0) return 1;
    }
    const topology machine = topology::discover();
    if (machine.processors().size() != 1 || machine.processors()[0].pu != only) return 2;
    return machine.affinity() == std::to_string(only) ? 0 : 3;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(topology, pinning_moves_the_thread) {
  const topology machine = topology::discover();
  std::thread([&machine] {
    for (const processor& one : machine.processors()) {
      ASSERT_TRUE(pin_this_thread(one.pu));
      EXPECT_EQ(::sched_getcpu(), static_cast<int>(one.pu));
    }
    EXPECT_FALSE(pin_this_thread(1023));
    EXPECT_FALSE(pin_this_thread(1U << 20));
  }).join();
}

// Of the calling thread.
std::set<unsigned> allowed_pus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  std::set<unsigned> pus;
  for (unsigned pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &mask)) pus.insert(pu);
  return pus;
}

TEST(topology, another_thread_is_given_processors_while_it_runs) {
  const std::set<unsigned> before = allowed_pus();
  const std::vector<unsigned> all(before.begin(), before.end());
  std::uint32_t number = 0;
  std::latch known(1);
  std::latch changed(1);
  std::set<unsigned> one;
  std::set<unsigned> back;
  std::thread changing([&] {
    number = thread_id();
    known.count_down();
    changed.wait();
    one = allowed_pus();
    EXPECT_TRUE(pin_thread(thread_id(), all));
    back = allowed_pus();
  });
  known.wait();
  EXPECT_TRUE(pin_thread(number, std::span(all).last(1)));
  changed.count_down();
  changing.join();
  EXPECT_EQ(one, std::set<unsigned>{all.back()});
  EXPECT_EQ(back, before);
  EXPECT_EQ(allowed_pus(), before);  // this thread was not meant
  EXPECT_FALSE(pin_thread(thread_id(), {}));
  constexpr unsigned k_none = 1U << 20;
  EXPECT_FALSE(pin_thread(thread_id(), std::span(&k_none, 1)));
}

}  // namespace
}  // namespace shoal::machine

// SPDX-License-Identifier: Apache-2.0
// aggregate::overflow_memory on the simulated memory, with the real doorbell: workers give back the memory of commands
// that they have sent, while siblings, whose tasks are held back meanwhile, fall asleep. Whoever takes the end rings the
// others. No task is held for ever.
#include "aggregate/overflow_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockfree/doorbell.hpp"
#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using production = aggregate::basic_overflow_memory<model_atomics>;
using doorbell = lockfree::doorbell<model_atomics>;

// Who gives back the last does not say so.
struct says_nothing : production {
  using production::production;
  bool has_ended() const { return false; }
};

constexpr auto k_commands = production::use::commands;

template <class Memory>
struct node {
  Memory memory{10};
  std::array<doorbell, 3> bells;  // of workers

  bool takes_end() { return memory.has_ended() && memory.take_end(); }
  // The end of node_ports::poll().
  void tell(std::size_t me) {
    if (takes_end()) ring_others(me);
  }
  void ring_others(std::size_t me) {
    for (std::size_t w = 0; w < bells.size(); ++w)
      if (w != me && bells[w].ring()) bells[w].word().futex_wake_one();
  }
  // A worker that polls and sleeps until its task need not be held.
  void wait(std::size_t me) {
    for (;;) {
      const bool held = memory.holds_tasks();
      tell(me);
      if (!held) return;
      bells[me].prepare();
      if (!memory.holds_tasks())  // worker_port::pending()
        bells[me].cancel();
      else
        while (bells[me].may_sleep()) bells[me].word().futex_wait(doorbell::k_announced);
    }
  }
  void send(std::size_t me, std::uint64_t bytes) {
    memory.give_back(k_commands, bytes);
    tell(me);
  }
};

// Commands of 2 and 3 bytes wait at first. `again`: later others wait for a moment.
template <class Memory = production>
scenario sending(std::size_t senders, bool again = false) {
  return [=](execution& run) {
    auto n = std::make_shared<node<Memory>>();
    check(n->memory.take(k_commands, 2) && n->memory.take(k_commands, 3), "there is room");
    run.thread("sender", [=] {
      n->send(0, 2);
      if (senders == 1) n->send(0, 3);
      if (again && n->memory.take(k_commands, 4)) n->send(0, 4);
    });
    if (senders == 2)
      run.thread("sender", [=] {
        n->send(1, 3);
        n->wait(1);
      });
    else
      run.thread("sleeper", [=] { n->wait(1); });
    run.thread("sleeper", [=] { n->wait(2); });
    run.finally([=] { check(n->memory.used_bytes() == 0 && !n->memory.holds_tasks(), "all is given back"); });
  };
}

// A worker without tasks takes the end of another's.
const scenario k_another_tells = [](execution& run) {
  auto n = std::make_shared<node<production>>();
  check(n->memory.take(k_commands, 5), "there is room");
  run.thread("sender", [=] { n->send(0, 5); });
  run.thread("teller", [=] {
    for (int looks = 0; looks < 3; ++looks) {
      if (!n->takes_end()) continue;
      check(!n->memory.holds_tasks(), "who takes the end sees it");
      n->ring_others(1);
    }
  });
  run.thread("sleeper", [=] { n->wait(2); });
};

// The limit holds whoever takes at the same time.
const scenario k_limit = [](execution& run) {
  auto memory = std::make_shared<production>(10);
  auto taken = std::make_shared<std::array<std::uint64_t, 3>>();
  for (std::size_t t = 0; t < 3; ++t)
    run.thread("taker", [=] {
      if (!memory->take(production::use::calls, 4)) return;
      (*taken)[t] = 4;
      check((*taken)[0] + (*taken)[1] + (*taken)[2] <= 10, "the limit holds");
      if (t != 0) return;
      (*taken)[t] = 0;
      memory->give_back(production::use::calls, 4);
    });
  run.finally([=] { check(memory->used_bytes() == (*taken)[1] + (*taken)[2], "what was refused is not counted"); });
};

const std::vector<scenario> k_all{sending(1), sending(2), sending(1, true), sending(2, true), k_another_tells, k_limit};

TEST(overflow_memory, no_task_is_held_for_ever) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(30'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(overflow_memory, one_sender_all_executions_with_two_preemptions) {
  const outcome o = explore(sending(1), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(overflow_memory, unless_nobody_is_told) {
  EXPECT_TRUE(explore(sending<says_nothing>(1), systematically(3)).failed);
}

TEST(overflow_memory, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "overflow_memory.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 2U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model

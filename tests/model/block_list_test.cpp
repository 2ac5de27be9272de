// SPDX-License-Identifier: Apache-2.0
// Model test of the lists of a sweep (src/lockfree/block_list.hpp): every block is taken once, with the data of its
// sweep, by the owner, by others and by late threads. An owner that is notified while it checks its list is notified
// again.
#include "lockfree/block_list.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using list = lockfree::block_list<model_atomics>;

struct table {
  void sweep(int number, std::uint32_t blocks) {
    for (std::uint32_t b = 0; b < blocks; ++b) content[b].write(number);
    left.fill(0, blocks, static_cast<list::sweep_number>(number));
  }
  // A taker's work on a block; the loop counts `done`.
  bool run(std::uint32_t block, int rounds) {
    if (block == list::k_none) return false;
    check(block < 3, "a block of the sweep");
    const int number = content[block].read();
    check(number >= 1 && number <= rounds, "the block is complete");
    taken[block].write(taken[block].read() + 1);  // a race if two threads have it
    done.fetch_add(1, std::memory_order_acq_rel);
    return true;
  }

  list left;
  model_plain<int> content[3];
  model_plain<int> taken[3];
  model_atomic<std::uint32_t> done{0};
};

// One thread begins `rounds` sweeps, each after the previous has ended. The owner takes from the front, others take
// from the back, without knowing which sweep is active.
scenario swept(int rounds, std::uint32_t blocks, int others) {
  return [=](execution& run) {
    auto t = std::make_shared<table>();
    run.thread("caller", [=] {
      for (int r = 1; r <= rounds; ++r) {
        t->sweep(r, blocks);
        while (t->run(t->left.take_front(), rounds)) {
        }
        while (t->done.load(std::memory_order_acquire) < static_cast<std::uint32_t>(r) * blocks)
          execution::current().give_way();
      }
    });
    for (int o = 0; o < others; ++o)
      run.thread("other", [=] {
        for (int tries = 0; tries < rounds + 1; ++tries) {
          const auto sweep = static_cast<list::sweep_number>(1 + tries % rounds);
          if (t->left.left(sweep) != 0) t->run(t->left.take_back(sweep), rounds);
        }
      });
    run.finally([=] {
      for (std::uint32_t b = 0; b < blocks; ++b) check(t->taken[b].read() == rounds, "every block once in each sweep");
    });
  };
}

// The caller takes no block itself: the owner must see every sweep, although it is notified only if no notification is
// pending. The notification is one object that is reused.
scenario summoned(int rounds) {
  struct words {
    table t;
    model_plain<int> word{0};
    model_atomic<int> sent{0};
    model_atomic<int> over{0};
  };
  return [=](execution& run) {
    auto w = std::make_shared<words>();
    run.thread("caller", [=] {
      for (int r = 1; r <= rounds; ++r) {
        w->t.sweep(r, 1);
        if (w->t.left.tell()) {
          w->word.write(r);
          w->sent.fetch_add(1, std::memory_order_release);
        }
        if (r == rounds) w->over.store(1, std::memory_order_release);
        // Sometimes another thread takes the block before the owner has checked its list.
        if (r % 2 == 1) w->t.run(w->t.left.take_back(static_cast<list::sweep_number>(r)), rounds);
        while (w->t.done.load(std::memory_order_acquire) < static_cast<std::uint32_t>(r)) {
          execution::current().give_way();
        }
      }
    });
    run.thread("owner", [=] {
      for (int seen = 0;;) {
        const bool last = w->over.load(std::memory_order_acquire) != 0;
        if (w->sent.load(std::memory_order_acquire) > seen) {
          ++seen;
          check(w->word.read() >= seen, "the word is complete");
          w->t.left.told();
          w->t.run(w->t.left.take_front(), rounds);
        } else if (last) {
          break;
        } else {
          execution::current().give_way();
        }
      }
    });
    run.finally([=] { check(w->t.taken[0].read() == rounds, "every sweep is heard of"); });
  };
}

const std::vector<scenario> k_all{swept(1, 3, 1), swept(1, 2, 2), swept(2, 2, 1), swept(3, 1, 2),
                                  summoned(1),    summoned(2),    summoned(4)};

TEST(block_list, all_executions_of_an_owner_and_another_with_few_preemptions) {
  for (const scenario& each : {swept(1, 2, 1), summoned(2)}) {
    const outcome o = explore(each, systematically(2));
    EXPECT_FALSE(o.failed) << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(block_list, every_block_is_taken_once_in_every_sweep) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(30'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(block_list, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "block_list.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 8U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model

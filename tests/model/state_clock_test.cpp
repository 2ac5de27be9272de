// SPDX-License-Identifier: Apache-2.0
// Model test of the clock of states: a reading is consistent, whatever the owner does concurrently.
#include "lockfree/state_clock.hpp"

#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using clock = lockfree::state_clock<2, model_atomics>;

// The owner changes its state at the times 1, 3, 6, ...; state s begins at times with s == time % 2.
constexpr std::uint64_t moment_of(std::uint32_t change) { return std::uint64_t{change} * (change + 1) / 2; }

void check_reading(const clock::reading& r) {
  const std::uint64_t sum = std::accumulate(r.elapsed.begin(), r.elapsed.end(), std::uint64_t{0});
  check(sum == r.since, "the times of all states add up to the moment of the last change");
  check(r.state == r.since % 2, "the state is the one entered then");
  check(r.since == moment_of(r.epoch), "the epoch is the one of that change");
}

scenario read_while_written(std::uint32_t changes, int readers, int tries) {
  return [=](execution& run) {
    auto c = std::make_shared<clock>();
    run.thread("owner", [=] {
      for (std::uint32_t i = 1; i <= changes; ++i)
        c->restart(static_cast<std::uint32_t>(moment_of(i) % 2), moment_of(i), i % 2, moment_of(i - 1), i);
    });
    for (int r = 0; r < readers; ++r)
      run.thread("reader", [=] {
        std::uint64_t last = 0;
        for (int i = 0; i < tries; ++i) {
          clock::reading got;
          if (!c->try_read(got)) continue;
          check_reading(got);
          check(got.since >= last, "a later reading is not older");
          last = got.since;
        }
      });
    run.finally([=] {
      clock::reading got;
      check(c->try_read(got), "nobody writes any more");
      check(got.since == moment_of(changes), "the last change is there");
      check_reading(got);
    });
  };
}

const std::vector<scenario> k_all{read_while_written(1, 1, 1), read_while_written(2, 1, 2),
                                  read_while_written(3, 2, 2)};

TEST(state_clock, one_change_and_one_reader_all_executions_with_three_preemptions) {
  const outcome o = explore(read_while_written(1, 1, 1), systematically(3));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(state_clock, readings_hold_together) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(40'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(state_clock, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "state_clock.hpp", randomly(20'000));
  EXPECT_GE(mutants.tried, 10U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model

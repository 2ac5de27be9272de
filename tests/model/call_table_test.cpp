// SPDX-License-Identifier: Apache-2.0
// remote::call_table on the simulated memory, with the real inbox of places that are free again: a worker adds calls;
// others take them by names that have come to them without any order, twice, or that they have guessed. Each call is
// taken once, complete, and a place is used again only after that.
#include "remote/call_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using production = remote::basic_call_table<model_atomics, 1>;

constexpr std::uint32_t k_node = 7;
constexpr std::size_t k_calls = 3;

struct table {
  production calls{0};
  std::array<model_atomic<std::uint64_t>, k_calls> names;  // as messages bring them
  std::array<int, k_calls> taken{};

  void add(std::size_t call) {
    const std::uint64_t name = calls.add({.calls = nullptr, .answer = nullptr, .answer_words = call, .node = k_node});
    names[call].store(name, std::memory_order_relaxed);
  }
  void take(std::uint64_t name) {
    const auto got = calls.take(name, k_node);
    if (!got) return;
    check(got->answer_words < k_calls && got->node == k_node, "the call is complete");
    ++taken[got->answer_words];
  }
  void take_what_has_come() {
    for (auto& letter : names)
      if (const std::uint64_t name = letter.load(std::memory_order_relaxed); name != 0) take(name);
  }
  void end() {
    take_what_has_come();
    for (const int times : taken) check(times == 1, "a call is taken once");
  }
};

// Every answer comes to all of `takers`.
scenario with(int takers) {
  return [takers](execution& run) {
    auto t = std::make_shared<table>();
    run.thread("worker", [t] {
      for (std::size_t call = 0; call < k_calls; ++call) t->add(call);
    });
    for (int i = 0; i < takers; ++i)
      run.thread("taker", [t] {
        t->take_what_has_come();
        t->take_what_has_come();
      });
    run.finally([t] { t->end(); });
  };
}

// Somebody sends answers to calls that nobody has told him of.
const scenario k_guessed = [](execution& run) {
  auto t = std::make_shared<table>();
  std::array<std::uint64_t, k_calls> guesses{};
  production other{0};
  for (std::uint64_t& guess : guesses) guess = other.add({.node = k_node});
  run.thread("worker", [t] {
    for (std::size_t call = 0; call < k_calls; ++call) t->add(call);
  });
  for (int i = 0; i < 2; ++i)
    run.thread("guesser", [t, guesses] {
      for (const std::uint64_t guess : guesses) t->take(guess);
    });
  run.finally([t] { t->end(); });
};

const std::vector<scenario> k_all{with(1), with(2), k_guessed};

TEST(call_table, one_taker_all_executions_with_two_preemptions) {
  const outcome o = explore(with(1), systematically(2));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
}

TEST(call_table, a_call_is_taken_once_and_complete) {
  for (const scenario& each : k_all) {
    const outcome o = explore(each, randomly(30'000));
    EXPECT_FALSE(o.failed) << o;
  }
}

TEST(call_table, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(k_all, "call_table.hpp", randomly(20'000));
  EXPECT_EQ(mutants.tried, 4U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model

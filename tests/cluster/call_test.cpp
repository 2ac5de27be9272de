// SPDX-License-Identifier: Apache-2.0
#include "shoal/on.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::global_array;

class calls : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(calls);

template <class F>
std::string sentence(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing thrown";
}

struct large {
  std::uint64_t values[500];
};

TEST_P(calls, run_on_the_node_and_bring_the_result) {
  run([this] {
    for (unsigned n = 0; n < nodes(); ++n) {
      EXPECT_EQ(shoal::on(n, [] { return shoal::node_id(); }), n);
      const std::uint64_t x = 41;
      EXPECT_EQ(shoal::on(n, [x] { return x + 1; }), 42U);
      const large l = shoal::on(n, [n] {
        large made{};
        for (std::uint64_t i = 0; i < 500; ++i) made.values[i] = i * n;
        return made;
      });
      EXPECT_EQ(l.values[499], 499U * n);
      shoal::on(n, [] {});
    }
  });
}

TEST_P(calls, may_wait_and_call_on) {
  run([this] {
    const unsigned n = nodes();
    // Calls around the ring; each waits for the next.
    struct hop {
      unsigned left;
      unsigned nodes;
      unsigned operator()() const {
        if (left == 0) return 0;
        return 1 + shoal::on((shoal::node_id() + 1) % nodes, hop{left - 1, nodes});
      }
    };
    EXPECT_EQ(shoal::on(n - 1, hop{50, n}), 50U);
  });
}

TEST_P(calls, thousands_at_once) {
  run([this] {
    std::vector<shoal::future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < 5000; ++i)
      futures.push_back(shoal::async_on(static_cast<std::uint32_t>(i % nodes()), [i] {
        shoal::yield();
        return i * i;
      }));
    for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(futures[i].get(), i * i);
  });
}

TEST_P(calls, give_futures_that_can_be_continued_and_gathered) {
  run([this] {
    const std::uint32_t last = nodes() - 1;
    EXPECT_EQ(shoal::async_on(last, [] { return 20; }).then([](int x) { return x + 1; }).get(), 21);
    std::vector<shoal::future<std::uint32_t>> all;
    for (std::uint32_t n = 0; n < nodes(); ++n)
      all.push_back(shoal::async_on(n, [] {
        shoal::yield();
        return shoal::node_id();
      }));
    const auto ids = shoal::when_all(std::move(all)).get();
    for (std::uint32_t n = 0; n < nodes(); ++n) EXPECT_EQ(ids[n], n);
    auto both = shoal::when_all(shoal::async_on(last, [] {}), shoal::async([] { return 2; }));
    EXPECT_EQ(both.then([](auto values) { return std::get<1>(values); }).get(), 2);
    auto failed = shoal::async_on(last, []() -> int { throw std::invalid_argument("bad thing"); });
    EXPECT_THROW(std::move(failed).then([](int x) { return x; }).get(), shoal::remote_error);
    // The end of a future waits for its call.
    global_array<std::uint64_t> a(1);
    shoal::async_on(last, [r = a.ref()] {
      for (int i = 0; i < 10; ++i) shoal::yield();
      r.put(0, 1);
    });
    EXPECT_EQ(a->get(0), 1U);
  });
}

TEST_P(calls, bring_exceptions_with_type_message_and_node) {
  run([this] {
    for (unsigned n = 0; n < nodes(); ++n) {
      try {
        shoal::on(n, [] { throw std::invalid_argument("bad thing"); });
        FAIL();
      } catch (const shoal::remote_error& e) {
        EXPECT_EQ(e.node(), n);
        EXPECT_EQ(e.type(), "std::invalid_argument");
        EXPECT_EQ(e.message(), "bad thing");
        EXPECT_EQ(e.code(), shoal::errc::remote);
      }
      try {
        shoal::on(n, []() -> int { throw shoal::error(shoal::errc::not_found, "no such thing"); });
        FAIL();
      } catch (const shoal::error& e) {
        EXPECT_EQ(e.code(), shoal::errc::not_found);
      }
      try {
        shoal::on(n, [] { throw 42; });
        FAIL();
      } catch (const shoal::remote_error& e) {
        EXPECT_EQ(e.type(), "int");
        EXPECT_EQ(std::string(e.what()), "42 (thrown on node " + std::to_string(n) + " as int)");
      }
      struct odd {};
      EXPECT_EQ(sentence([n] { shoal::on(n, [] { throw odd{}; }); }).find("an exception without a message (thrown on"),
                0U);
      EXPECT_EQ(sentence([n] { shoal::on(n, [] { throw "a text"; }); }).find("a text (thrown on"), 0U);
      auto never_asked = shoal::async_on(n, [] { throw std::runtime_error("nobody looks"); });
    }
  });
}

TEST_P(calls, shorten_long_messages_in_the_middle) {
  run([this] {
    const std::string said = sentence([this] {
      shoal::on(nodes() - 1, [] { throw std::runtime_error("it began " + std::string(5000, 'x') + "; do this"); });
    });
    EXPECT_EQ(said.find("it began xxx"), 0U);
    EXPECT_NE(said.find(" [...] x"), std::string::npos);
    EXPECT_NE(said.find("xxx; do this (thrown on node"), std::string::npos);
    EXPECT_LT(said.size(), 2100U);
  });
}

TEST_P(calls, whose_results_are_dropped_do_not_lose_their_exceptions) {
  testing::internal::CaptureStderr();
  run([this] {
    const std::uint32_t last = nodes() - 1;
    shoal::async_on(last, [] { throw std::runtime_error("dropped at once"); });
    EXPECT_EQ(sentence([last] {
                auto lost = shoal::async_on(last, [] { throw 43; });
                throw std::runtime_error("another");
              }),
              "another");
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("dropped at once"), std::string::npos) << said;
  EXPECT_NE(said.find("dropped: 43 (thrown on node"), std::string::npos) << said;
}

TEST_P(calls, may_change_their_own_copy_of_what_they_captured) {
  run([this] {
    global_array<std::uint64_t> a(nodes());
    const std::uint32_t last = nodes() - 1;
    std::uint64_t x = 1;
    EXPECT_EQ(shoal::on(last, [x]() mutable { return ++x; }), 2U);
    auto later = shoal::async_on(last, [x]() mutable { return x += 2; });
    EXPECT_EQ(later.get(), 3U);
    shoal::async_at(last, [x, r = a.ref()]() mutable { r.local()[0] += ++x; });
    shoal::wait();
    EXPECT_EQ(a->get(last), 2U);
    EXPECT_EQ(x, 1U);
  });
}

// A function that runs in place polls for messages when the service thread requests it, in the middle of a buffer.
TEST_P(calls, executed_in_place_that_touch_memory_of_their_node_are_executed_once) {
  run([this] {
    constexpr std::uint64_t k_calls = 2'000'000;
    const std::uint32_t last = nodes() - 1;
    global_array<std::uint64_t> a(nodes());
    for (std::uint64_t i = 0; i < k_calls; ++i) shoal::async_at(last, [r = a.ref(), last] { r.add(last, 1); });
    shoal::wait();
    EXPECT_EQ(a->get(last), k_calls);
  });
}

TEST_P(calls, of_nodes_that_do_not_exist_are_refused) {
  if (GetParam().nodes != 1 || GetParam().workers != 1) return;  // once is enough
  EXPECT_DEATH(run([] { shoal::on(1, [] {}); }), "there is no such node");
  EXPECT_DEATH(run([] { shoal::async_at(1, [] {}); }), "there is no such node");
}

TEST_P(calls, what_a_call_began_is_complete_with_its_result) {
  run([this] {
    shoal::global_array<std::uint64_t> a(1000, shoal::distribution::cyclic);
    for (unsigned n = 0; n < nodes(); ++n)
      shoal::on(n, [r = a.ref()] {
        for (std::uint64_t i = 0; i < 1000; ++i) r.async_add(i, 1);
      });
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(a->get(i), nodes());
  });
}

}  // namespace

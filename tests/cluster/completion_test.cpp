// SPDX-License-Identifier: Apache-2.0
// Tests when asynchronous operations are complete, and how long a call keeps its arguments.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::distribution;
using shoal::everywhere;
using shoal::global_array;

class completion : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(completion);

constexpr std::uint64_t k_size = 500;

// All elements of a cyclic array, so that most are on other nodes.
void add_one_to_all(const shoal::array_ref<std::uint64_t>& a) {
  for (std::uint64_t i = 0; i < a.size(); ++i) a.async_add(i, 1);
}
void expect_all(const shoal::array_ref<std::uint64_t>& a, std::uint64_t value) {
  for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.get(i), value) << i;
}

TEST_P(completion, at_the_end_of_a_loop_on_every_node_and_worker) {
  run([this] {
    global_array<std::uint64_t> a(k_size, distribution::cyclic);
    for (std::uint64_t round = 1; round <= 30; ++round) {
      shoal::parallel_for(everywhere, k_size, [r = a.ref()](std::uint64_t i) { r.async_add(r.size() - 1 - i, 1); });
      expect_all(a, round);
    }
    // Also for inner loops, before the outer iteration continues, and for loops on this node only.
    global_array<std::uint64_t> missed(1);
    shoal::parallel_for(everywhere, 20, [r = a.ref(), m = missed.ref()](std::uint64_t) {
      global_array<std::uint64_t> own(64, distribution::cyclic);
      shoal::parallel_for(shoal::here, 64, [o = own.ref()](std::uint64_t i) { o.async_put(63 - i, i + 1); });
      for (std::uint64_t i = 0; i < 64; ++i)
        if (own->get(63 - i) != i + 1) m.add(0, 1);
    });
    EXPECT_EQ(missed->get(0), 0U);
    if (nodes() > 1) {
      shoal::parallel_for(shoal::elsewhere, k_size, [r = a.ref()](std::uint64_t i) { r.async_add(i, 1); });
      expect_all(a, 31);
    }
  });
}

TEST_P(completion, at_the_end_of_a_call_of_a_member_and_of_what_throws) {
  run([this] {
    global_array<std::uint64_t> a(k_size, distribution::cyclic);
    std::uint64_t expected = 0;
    for (unsigned n = 0; n < nodes(); ++n) {
      shoal::on(n, [r = a.ref()] { add_one_to_all(r); });
      expect_all(a, ++expected);
      EXPECT_THROW(shoal::on(n,
                             [r = a.ref()] {
                               add_one_to_all(r);
                               throw std::runtime_error("after the last of them");
                             }),
                   shoal::remote_error);
      expect_all(a, ++expected);
    }
    shoal::spmd([r = a.ref()](shoal::team&) { add_one_to_all(r); });
    expect_all(a, expected += nodes());
    EXPECT_ANY_THROW(shoal::parallel_for(everywhere, 1, [r = a.ref()](std::uint64_t) {
      add_one_to_all(r);
      throw std::runtime_error("as above");
    }));
    expect_all(a, ++expected);
  });
}

TEST_P(completion, at_the_end_of_a_task_of_a_group_and_of_a_pair) {
  run([] {
    global_array<std::uint64_t> a(k_size, distribution::cyclic);
    std::uint64_t expected = 0;
    for (int round = 0; round < 20; ++round) {
      shoal::task_group group;
      for (int t = 0; t < 4; ++t) group.run([r = a.ref()] { add_one_to_all(r); });
      group.wait();
      expect_all(a, expected += 4);
      const auto one = [r = a.ref()] { add_one_to_all(r); };
      auto later = shoal::async(one);
      later.get();
      expect_all(a, ++expected);
      shoal::parallel_invoke(one, [r = a.ref()] {
        shoal::yield();
        add_one_to_all(r);
      });
      shoal::wait();  // the first of the two operations belongs to this task
      expect_all(a, expected += 2);
    }
  });
}

TEST_P(completion, at_the_end_of_a_scope_that_an_exception_leaves) {
  run([this] {
    global_array<std::uint64_t> a(nodes());
    const std::uint64_t last = nodes() - 1;
    for (std::uint64_t round = 1; round <= 100; ++round) {
      a->put(last, round);
      std::uint64_t got = 0;
      try {
        const shoal::wait_at_exit complete;
        a->async_get(last, &got);
        throw std::runtime_error("before it has arrived");
      } catch (const std::runtime_error&) {
        ASSERT_EQ(got, round);
      }
    }
  });
}

// The memory of a freed array may be reused at once: operations that a task on another worker began must not write to
// it.
TEST_P(completion, of_what_flies_to_an_array_before_its_memory_is_free) {
  if (GetParam().workers < 2) return;  // a task of another worker is needed
  run([] {
    constexpr std::uint64_t k_mine = 7;
    for (int round = 0; round < 5; ++round) {
      std::atomic<bool> begun{false};
      shoal::task_group group;
      {
        global_array<std::uint64_t> a(1000, distribution::local);
        group.run([&begun, r = a.ref()] {
          for (std::uint64_t i = 0; i < k_mine; ++i) r.async_put(i, 99);  // few enough to stay in the prefetch window
          begun.store(true);
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
        });
        while (!begun.load()) std::this_thread::yield();  // lets a sibling steal it
      }
      const global_array<std::uint64_t> b(1000, distribution::local);
      group.wait();
      for (std::uint64_t i = 0; i < k_mine; ++i) ASSERT_EQ(b->get(i), 0U);
    }
  });
}

TEST_P(completion, of_handlers_executed_in_place_after_wait) {
  run([this] {
    global_array<std::uint64_t> a(nodes());
    for (std::uint64_t round = 1; round <= 200; ++round) {
      for (unsigned n = 0; n < nodes(); ++n)
        shoal::async_at(n, [r = a.ref()] { std::atomic_ref(r.local()[0]).fetch_add(1, std::memory_order_relaxed); });
      shoal::wait();
      expect_all(a, round);
    }
  });
}

TEST_P(completion, a_bare_verb_needs_no_flush_and_does_not_wait_for_others) {
  run([this] {
    global_array<std::uint64_t> a(nodes());
    const std::uint64_t last = nodes() - 1;
    a->put(last, 7);  // returns without any other activity
    EXPECT_EQ(shoal::on(nodes() - 1, [r = a.ref(), last] { return r.get(last); }), 7U);
    a->async_put(last, 8);
    shoal::flush();  // sends, but only wait() guarantees completion
    shoal::wait();
    EXPECT_EQ(a->get(last), 8U);
  });
}

TEST_P(completion, values_and_captures_are_copied_at_the_call) {
  run([this] {
    global_array<std::uint64_t> a(3 * k_size, distribution::cyclic);
    std::vector<std::uint64_t> values(3 * k_size, 5);
    a->async_put(0, std::span<const std::uint64_t>(values));
    std::fill(values.begin(), values.end(), 6);
    shoal::wait();
    expect_all(a, 5);
    std::uint64_t one = 9;
    for (std::uint64_t i = 0; i < a.size(); ++i, ++one) a->async_put(i, one);
    shoal::wait();
    for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i), 9 + i);
    std::vector<shoal::future<std::uint64_t>> results;
    for (std::uint64_t i = 0; i < 50; ++i) {
      struct keeps {
        std::uint64_t value;
        std::uint64_t operator()() const { return value; }
      } body{i};
      results.push_back(shoal::async_on(static_cast<std::uint32_t>(i % nodes()), body));
      body.value = 1000;
    }
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(results[i].get(), i);
  });
}

}  // namespace

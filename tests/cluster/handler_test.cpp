// SPDX-License-Identifier: Apache-2.0
// Handlers that send: what async_at executes begins operations itself, also on the node it came from, recursively, and
// more than the buffers hold.
#include "shoal/on.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "shoal/future.hpp"
#include "shoal/movable.hpp"
#include "shoal/quiesce.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_ref;
using shoal::global_array;

class handlers : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(handlers);

// One element per node.
using counters = array_ref<std::uint64_t>;

// All workers of all nodes call handlers of the next node, which add to the sender.
TEST_P(handlers, answer_the_sender_without_end) {
  run([this] {
    constexpr std::uint64_t k_calls = 400'000;
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    shoal::parallel_for(shoal::everywhere, k_calls * n, [r = a.ref(), n](std::uint64_t) {
      const std::uint32_t me = shoal::node_id();
      shoal::async_at((me + 1) % n, [r, me] { r.async_add(me, 1); });
    });
    shoal::quiesce();
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(a->get(i), k_calls) << "node " << i;
  });
}

// Each call sends far more than it takes: the nodes that call are held back.
TEST_P(handlers, that_send_more_than_they_receive_hold_the_callers_back) {
  auto c = config();
  c.overflow_memory = 2 << 20;
  shoal::runtime::run_in_process(c, [this] {
    constexpr std::uint64_t k_calls = 20'000;
    constexpr std::uint64_t k_adds = 50;
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    shoal::parallel_for(shoal::everywhere, k_calls * n, [r = a.ref(), n](std::uint64_t) {
      const std::uint32_t me = shoal::node_id();
      shoal::async_at((me + 1) % n, [r, me] {
        for (std::uint64_t k = 0; k < k_adds; ++k) r.async_add(me, 1'000'000);
      });
    });
    shoal::quiesce();
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(a->get(i), k_calls * k_adds * 1'000'000) << "node " << i;
    return 0;
  });
}

// Calls itself on two nodes until `left` is 0.
struct tree {
  counters leaves;
  std::uint32_t left;
  std::uint32_t nodes;
  void operator()() const {
    const std::uint32_t me = shoal::node_id();
    if (left == 0) return leaves.add(me, 1);
    shoal::async_at(me, tree{leaves, left - 1, nodes});
    shoal::async_at((me + 1) % nodes, tree{leaves, left - 1, nodes});
  }
};

TEST_P(handlers, call_handlers_in_a_tree) {
  run([this] {
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    for (int round = 0; round < 3; ++round) {
      shoal::async_at(n - 1, tree{a, 16, n});
      shoal::quiesce();
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < n; ++i) sum += a->exchange(i, 0);
      EXPECT_EQ(sum, 1U << 16);
    }
  });
}

// Around the nodes, or on one node, for a long time.
struct chain {
  counters ends;
  std::uint32_t left;
  std::uint32_t step;
  std::uint32_t nodes;
  void operator()() const {
    const std::uint32_t me = shoal::node_id();
    if (left == 0) return ends.add(me, 1);
    shoal::async_at((me + step) % nodes, chain{ends, left - 1, step, nodes});
  }
};

TEST_P(handlers, form_chains_of_any_length_and_quiesce_waits_for_their_ends) {
  run([this] {
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    for (const std::uint32_t length : {1U, 10U, 1001U}) {
      shoal::async_at(0, chain{a, length, 1, n});
      shoal::quiesce();
      EXPECT_EQ(a->exchange(length % n, 0), 1U) << length;
      shoal::async_at(n - 1, chain{a, 100 * length, 0, n});  // on one node: its stack must not grow with it
      shoal::quiesce();
      EXPECT_EQ(a->exchange(n - 1, 0), 1U) << length;
    }
  });
}

TEST_P(handlers, quiesce_covers_what_other_tasks_have_begun) {
  run([this] {
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    shoal::quiesce();  // nothing
    shoal::spmd([r = a.ref(), n](shoal::team& t) {
      for (int i = 0; i < 1000; ++i) shoal::async_at((t.rank() + 1) % n, chain{r, 3, 1, n});
      t.barrier();
      if (t.rank() == 0) {
        shoal::quiesce();
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < n; ++i) sum += r.get(i);
        EXPECT_EQ(sum, std::uint64_t{1000} * n);
      }
      t.barrier();
    });
  });
}

std::array<std::atomic<std::uint64_t>, 8> got;  // by node: all nodes are in this process

TEST_P(handlers, get_and_put_many_elements) {
  run([this] {
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(1000 * n);
    global_array<std::uint64_t> copies(1000 * n);
    for (std::uint64_t i = 0; i < 1000 * n; ++i) a->async_put(i, i + 7);
    shoal::wait();
    for (std::uint32_t i = 0; i < n; ++i)
      shoal::async_at(i, [from = a.ref(), to = copies.ref(), n] {
        const std::uint32_t me = shoal::node_id();
        const std::uint32_t other = (me + 1) % n;
        from.async_get(1000 * other + 5, reinterpret_cast<std::uint64_t*>(&got[me]));
        from.async_get(1000 * other, std::span(to.local().data(), 500));  // arrives as a whole
        std::array<std::uint64_t, 3> three{1, 2, 3};
        to.async_put(1000 * other + 900, std::span<const std::uint64_t>(three));  // copied at the call
        std::array<std::uint64_t, 2> mine;
        from.get(1000 * me, std::span(mine));  // of this node: at once
        to.put(1000 * me + 800, std::span<const std::uint64_t>(mine));
      });
    shoal::quiesce();
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint64_t other = (i + 1) % n;
      EXPECT_EQ(got[i].load(), 1000 * other + 5 + 7);
      EXPECT_EQ(copies->get(1000 * i + 499), 1000 * other + 499 + 7);
      EXPECT_EQ(copies->get(1000 * i + 902), 3U);
      EXPECT_EQ(copies->get(1000 * i + 801), 1000 * i + 1 + 7);
    }
  });
}

TEST_P(handlers, use_bare_verbs_on_elements_of_their_node) {
  run([this] {
    const std::uint32_t n = nodes();
    global_array<std::uint64_t> a(n);
    for (std::uint32_t i = 0; i < n; ++i)
      for (int k = 0; k < 10; ++k)
        shoal::async_at(i, [r = a.ref()] {
          const std::uint32_t me = shoal::node_id();
          const std::uint64_t before = r.fetch_add(me, 1);
          if (before == 9) r.put(me, 100 + r.get(me));
        });
    shoal::wait();
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(a->get(i), 110U);
  });
}

using handlers_death = handlers;
INSTANTIATE_TEST_SUITE_P(few, handlers_death,
                         testing::Values(shoal::test::job_shape{2, 1, false}, shoal::test::job_shape{2, 1, true}),
                         shoal::test::name_of);

TEST_P(handlers_death, bare_verbs_elsewhere_are_refused) {
  const auto dies = [this](auto&& use, std::uint32_t at) {
    EXPECT_DEATH(run([&use, at] {
                   global_array<std::uint64_t> a(100);
                   shoal::async_at(at, [use, r = a.ref()] { use(r); });
                   shoal::wait();
                 }),
                 "a handler .*on elements of its own node");
  };
  for (const std::uint32_t at : {0U, 1U}) {  // here, and by message; the elements are those of the other node
    dies([](counters r) { r.get(shoal::node_id() == 0 ? 99 : 0); }, at);
    dies([](counters r) { r.put(shoal::node_id() == 0 ? 99 : 0, 1); }, at);
    dies([](counters r) { r.fetch_add(shoal::node_id() == 0 ? 99 : 0, 1); }, at);
    dies([](counters r) { r.add(shoal::node_id() == 0 ? 99 : 0, 1); }, at);
    dies(
        [](counters r) {
          std::array<std::uint64_t, 2> two;
          r.get(49, std::span(two));  // one of each node
        },
        at);
  }
  EXPECT_DEATH(run([] {
                 shoal::async_at(1, [] { shoal::wait(); });
                 shoal::wait();
               }),
               "a handler .*wait");
}

shoal::mutex held;
shoal::latch never(1);
shoal::semaphore none(0);

TEST_P(handlers_death, waits_of_each_kind_are_refused) {
  const auto dies = [this](auto&& wait, const char* why) {
    for (const std::uint32_t at : {0U, 1U})  // here, and by message
      EXPECT_DEATH(run([&wait, at] {
                     held.lock();
                     shoal::async_at(at, wait);
                     shoal::wait();
                   }),
                   why);
  };
  dies([] { never.wait(); }, "a handler waits for a latch.*must not wait");
  dies([] { held.lock(); }, "a handler waits for a mutex.*must not wait");
  dies([] { none.acquire(); }, "a handler waits for a semaphore.*must not wait");
  dies([] { shoal::promise<int>().get_future().get(); }, "a handler waits for a promise.*must not wait");
  dies([] { shoal::on(1 - shoal::node_id(), [] {}); }, "a handler waits for a call.*must not wait");
  dies([] { shoal::quiesce(); }, "a handler waits.*must not wait");
  dies([] { shoal::yield(); }, "a handler yields.*must not wait");
  dies([] { shoal::task_group().run(shoal::movable, [] {}); }, "a handler waits for tasks that it has spawned");
  EXPECT_DEATH(run([] {  // on the stack of a task that could move
                 shoal::task_group group;
                 group.run(shoal::movable, [] { shoal::async_at(shoal::node_id(), [] { never.wait(); }); });
                 group.wait();
               }),
               "a handler waits for a latch.*must not wait");
}

TEST_P(handlers_death, children_that_run_inline_for_long_are_no_wait) {
  run([this] {
    global_array<std::uint64_t> sums(nodes());
    for (std::uint32_t i = 0; i < nodes(); ++i)
      shoal::async_at(i, [r = sums.ref()] {
        std::atomic<std::uint64_t> sum{0};
        shoal::task_group group;
        for (int k = 0; k < 1000; ++k)
          group.run([&] {
            for (int spin = 0; spin < 1000; ++spin) ++sum;
          });
        group.wait();
        r.put(shoal::node_id(), sum);
      });
    shoal::wait();
    for (std::uint32_t i = 0; i < nodes(); ++i) EXPECT_EQ(sums->get(i), 1'000'000U);
  });
}

// Twice as many calls in each generation, to the other node, without end.
struct explosion {
  void operator()() const {
    shoal::async_at(1 - shoal::node_id(), *this);
    shoal::async_at(1 - shoal::node_id(), *this);
  }
};

TEST_P(handlers_death, that_send_without_bound_exhaust_the_memory_for_it_and_are_named) {
  EXPECT_EXIT(
      {
        auto c = config();
        c.overflow_memory = 4 << 20;
        shoal::runtime::run_in_process(c, [] {
          shoal::async_at(1, explosion{});
          shoal::quiesce();
          return 0;
        });
      },
      testing::ExitedWithCode(3), "exhausted: .*explosion.*4.0 MiB.*SHOAL_OVERFLOW_MEMORY");
}

}  // namespace

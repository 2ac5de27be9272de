// SPDX-License-Identifier: Apache-2.0
#include "shoal/collectives.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::team;

class collectives : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(collectives);

// What a member finds wrong ends the job with its words.
void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

std::uint64_t number(std::uint64_t rank, std::uint64_t i) { return shoal::mix64(rank * 1000003 + i); }
std::vector<std::uint64_t> numbers(std::uint64_t rank, std::size_t count) {
  std::vector<std::uint64_t> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = number(rank, i);
  return v;
}
// Sums over all members.
std::vector<std::uint64_t> sums(std::uint32_t members, std::size_t count) {
  std::vector<std::uint64_t> v(count);
  for (std::uint32_t r = 0; r < members; ++r)
    for (std::size_t i = 0; i < count; ++i) v[i] += number(r, i);
  return v;
}

constexpr std::size_t k_lengths[] = {1, 300, 3000, 30000};  // words: one message, some of them, parts
constexpr auto k_plus = [](std::uint64_t a, std::uint64_t b) { return a + b; };

TEST_P(collectives, of_values) {
  run([this] {
    const auto sum = shoal::spmd([](team& t) {
      const std::uint64_t n = t.size();
      const std::uint64_t me = t.rank();
      const auto last = static_cast<std::uint32_t>(n - 1);
      require(t.broadcast(me, last) == last, "broadcast");
      require(t.all_reduce(me, k_plus) == n * (n - 1) / 2, "all_reduce");
      const std::uint64_t total = t.reduce(me, k_plus, last);
      require(me != last || total == n * (n - 1) / 2, "reduce");
      require(t.scan(me + 1, k_plus) == (me + 1) * (me + 2) / 2, "scan");
      require(t.exscan(me + 1, k_plus, std::uint64_t{77}) == (me == 0 ? 77 : me * (me + 1) / 2), "exscan");
      const auto gathered = t.gather(me * me, last);
      require(gathered.size() == (me == last ? n : 0), "gather: only on the root");
      for (std::uint64_t r = 0; r < gathered.size(); ++r) require(gathered[r] == r * r, "gather");
      const auto all = t.all_gather(me + 5);
      for (std::uint64_t r = 0; r < n; ++r) require(all[r] == r + 5, "all_gather");
      std::vector<std::uint64_t> mine(n);
      for (std::uint64_t r = 0; r < n; ++r) mine[r] = me * 100 + r;
      const auto received = t.all_to_all(std::span(mine));
      for (std::uint64_t r = 0; r < n; ++r) require(received[r] == r * 100 + me, "all_to_all");
      return t.all_reduce(me + 1, k_plus);
    });
    EXPECT_EQ(sum, std::uint64_t{nodes()} * (nodes() + 1) / 2);
  });
}

TEST_P(collectives, of_spans) {
  run([] {
    for (const std::size_t length : k_lengths)
      shoal::spmd([length](team& t) {
        const std::uint32_t last = t.size() - 1;
        const auto wanted = sums(t.size(), length);
        auto v = numbers(t.rank(), length);
        t.broadcast(std::span(v), last);
        require(v == numbers(last, length), "broadcast");
        v = numbers(t.rank(), length);
        t.all_reduce(std::span(v), k_plus);
        require(v == wanted, "all_reduce");
        v = numbers(t.rank(), length);
        t.reduce(std::span(v), k_plus, last);
        require(t.rank() != last || v == wanted, "reduce");
        v = numbers(t.rank(), length);
        t.scan(std::span(v), k_plus);
        require(v == sums(t.rank() + 1, length), "scan");
        v = numbers(t.rank(), length);
        t.exscan(std::span(v), k_plus);
        require(v == sums(t.rank(), length), "exscan");
      });
  });
}

TEST_P(collectives, of_spans_whose_extent_is_part_of_their_type) {
  run([] {
    shoal::spmd([](team& t) {
      std::array<std::uint64_t, 3> few = {t.rank(), 2, 3};
      t.broadcast(std::span(few), t.size() - 1);
      require(few[0] == t.size() - 1, "broadcast");
      t.all_reduce(std::span(few), k_plus);
      require(few[1] == 2 * t.size(), "all_reduce");
      const auto all = t.all_gather(std::span(few));
      require(all.values.size() == 3 * t.size(), "all_gather");
    });
  });
}

// They separate phases, or a member could call many while another calls none.
TEST_P(collectives, of_nothing_are_barriers) {
  run([this] {
    shoal::global_array<std::uint64_t> phase(nodes());
    shoal::spmd([p = phase.ref()](team& t) {
      const std::span<std::uint64_t> nothing;
      for (std::uint64_t round = 1; round <= 12; ++round) {
        p.put(t.rank(), round);
        switch (round % 4) {
          case 0: t.broadcast(nothing); break;
          case 1: t.all_reduce(nothing, k_plus); break;
          case 2: t.exscan(nothing, k_plus); break;
          default: require(t.all_to_all(nothing).empty(), "all_to_all");
        }
        for (std::uint32_t r = 0; r < t.size(); ++r) require(p.get(r) >= round, "a member has not come");
      }
    });
  });
}

// The last that a member sends lies in an open buffer, and the member comes into the runtime no more.
std::atomic<unsigned> g_coming{0};  // all nodes are in this process
std::atomic<unsigned> g_through{0};

TEST_P(collectives, send_the_last_message_before_the_member_computes) {
  if (nodes() < 2) GTEST_SKIP() << "needs another member";
  run([this] {
    for (int round = 0; round < 3; ++round) {
      g_coming = g_through = 0;
      const bool in_time = shoal::spmd([others = nodes() - 1](team& t) {
        if (t.rank() != 0) {
          ++g_coming;
          t.barrier();
          ++g_through;
          return true;
        }
        while (g_coming < others) shoal::yield();
        for (int i = 0; i < 300; ++i) shoal::yield();  // the others' messages arrive
        t.barrier();
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (g_through < others && std::chrono::steady_clock::now() < until) std::this_thread::yield();
        return g_through == others;
      });
      EXPECT_TRUE(in_time);
    }
  });
}

TEST_P(collectives, of_blocks) {
  run([] {
    for (const std::size_t length : k_lengths)
      shoal::spmd([length](team& t) {
        const auto size_of = [&](std::uint32_t r) { return r % 2 == 0 ? length + r : 0; };
        const auto mine = numbers(t.rank(), size_of(t.rank()));
        const auto check = [&](const shoal::blocks<std::uint64_t>& got) {
          for (std::uint32_t r = 0; r < t.size(); ++r)
            require(std::ranges::equal(got.of(r), numbers(r, size_of(r))), "a block");
        };
        const auto gathered = t.gather(std::span(mine), t.size() - 1);
        if (t.rank() == t.size() - 1) check(gathered);
        check(t.all_gather(std::span(mine)));

        std::vector<std::uint64_t> values, counts;
        for (std::uint32_t r = 0; r < t.size(); ++r) {
          counts.push_back(size_of(r + t.rank()));
          std::ranges::copy(numbers(t.rank() * 31 + r, counts.back()), std::back_inserter(values));
        }
        const auto received = t.all_to_all(std::span(values), counts);
        for (std::uint32_t r = 0; r < t.size(); ++r)
          require(std::ranges::equal(received.of(r), numbers(r * 31 + t.rank(), size_of(r + t.rank()))), "all_to_all");
      });
  });
}

TEST_P(collectives, that_do_not_block_run_beside_each_other) {
  run([] {
    shoal::spmd([](team& t) {
      const std::uint64_t n = t.size();
      for (int round = 0; round < 3; ++round) {
        auto v = numbers(t.rank(), 3000);
        auto w = numbers(t.rank(), 300);
        auto block = numbers(t.rank(), t.rank() + 1);
        auto summed = t.async_all_reduce(std::span(v), k_plus);
        auto sent = t.async_broadcast(std::span(w), 0);
        auto ready = t.async_barrier();
        auto sum = t.async_all_reduce(std::uint64_t{t.rank()}, k_plus);
        auto all = t.async_all_gather(std::span(block));
        auto prefix = t.async_scan(std::uint64_t{1}, k_plus);
        const std::uint64_t now = t.all_reduce(std::uint64_t{1}, k_plus);  // a bare one between them
        auto twice = sum.then([](std::uint64_t s) { return 2 * s; });
        auto both = shoal::when_all(std::move(prefix), std::move(twice));
        require(now == n, "a bare operation beside others");
        require(both.get() == std::tuple(std::uint64_t{t.rank()} + 1, n * (n - 1)), "then, when_all");
        const auto blocks = all.get();
        for (std::uint32_t r = 0; r < n; ++r)
          require(std::ranges::equal(blocks.of(r), numbers(r, r + 1)), "async_all_gather");
        ready.get();
        sent.get();
        summed.get();
        require(v == sums(t.size(), v.size()) && w == numbers(0, w.size()), "spans");
      }
    });
  });
}

// A member that is far ahead waits, instead of filling the others' memory.
TEST_P(collectives, let_no_member_run_away) {
  run([] {
    shoal::spmd([](team& t) {
      for (std::uint64_t i = 0; i < 600; ++i) {
        auto v = numbers(t.rank() == 0 ? i : 0, i % 3 == 0 ? 900 : 20);
        if (t.rank() != 0 && i % 64 == 0) shoal::yield();
        t.broadcast(std::span(v), 0);
        require(v == numbers(i, v.size()), "broadcast");
      }
    });
  });
}

TEST_P(collectives, of_teams_within_teams) {
  run([] {
    shoal::spmd([](team& t) {
      for (int round = 0; round < 10; ++round) {
        team half = t.split(t.rank() % 2, t.size() - t.rank());  // in reverse order
        const std::uint32_t others = (t.size() + 1 - t.rank() % 2) / 2;
        require(half.size() == others, "the size");
        require(half.node(half.rank()) == shoal::node_id(), "the node of a member");
        const auto ranks = half.all_gather(t.rank());
        require(std::ranges::is_sorted(ranks, std::greater<>()), "the order of keys");
        for (const std::uint32_t r : ranks) require(r % 2 == t.rank() % 2, "the colour");
        std::vector<std::uint64_t> v = numbers(half.rank(), 3000);
        half.all_reduce(std::span(v), k_plus);
        require(v == sums(half.size(), v.size()), "all_reduce");
        team alone = half.split(half.rank());
        require(alone.size() == 1 && alone.all_reduce(7, std::plus<>{}) == 7, "a team of one");
        auto later = half.async_barrier();
        t.barrier();
        later.get();
      }
    });
  });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class F>
std::string failure_of(const F& body) {
  try {
    shoal::spmd(body);
  } catch (const shoal::error& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST_P(collectives, end_where_a_member_of_any_team_fails) {
  if (nodes() < 3) GTEST_SKIP() << "needs two members in one half";
  run([] {
    // The others wait for a long message, for leave to send one, in a team within the team, or for a future.
    for (int where = 0; where < 4; ++where) {
      const std::string text = failure_of([where](team& t) {
        team half = t.split(t.rank() % 2);
        if (t.rank() == 2) throw std::runtime_error("member 2 gives up");
        auto v = numbers(t.rank(), 30000);
        for (;;) switch (where) {
            case 0: t.broadcast(std::span(v), 2); break;
            case 1: t.reduce(std::span(v), k_plus, 2); break;
            case 2:
              if (t.rank() % 2 == 0)
                half.barrier();
              else
                t.barrier();
              break;
            default: t.async_all_reduce(std::span(v), k_plus).get();
          }
      });
      EXPECT_TRUE(has(text, "member 2 gives up (thrown on node 2 as std::runtime_error)")) << where << ": " << text;
    }
  });
}

// The member that notices a failure itself has another task that waits.
TEST_P(collectives, end_the_async_operations_of_a_member_that_notices_a_failure) {
  if (nodes() < 2) GTEST_SKIP() << "needs another member";
  run([] {
    for (int round = 0; round < 5; ++round) {
      const std::string text = failure_of([](team& t) {
        auto v = numbers(t.rank(), 3000);
        auto sum = t.async_all_reduce(std::span(v), k_plus);
        if (t.rank() == 0)
          t.barrier();
        else
          t.broadcast(std::uint64_t{1});
        sum.get();
      });
      EXPECT_TRUE(has(text, "do not call the same collectives")) << text;
    }
    // Blocks of any sizes are not what blocks of no size are.
    const std::string kinds = failure_of([](team& t) {
      const std::vector<std::uint64_t> counts(t.size(), 0);
      const std::span<const std::uint64_t> nothing;
      if (t.rank() == 0)
        t.all_to_all(nothing, counts);
      else
        t.all_to_all(nothing);
    });
    EXPECT_TRUE(has(kinds, "all_to_all() of blocks") && has(kinds, "all_to_all() of 0 bytes")) << kinds;
  });
}

TEST(collectives_death_test, bodies_that_return_before_their_collectives_are_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
    c.nodes = 2;
    c.workers = 1;
    c.pin = false;
    shoal::runtime::run_in_process(c, [] {
      shoal::spmd([](team& t) {
        static shoal::future<void> kept;
        if (t.rank() == 0) kept = t.async_barrier();
        if (t.rank() == 1) shoal::on(0, [] {});
      });
      return 0;
    });
  };
  EXPECT_DEATH(job(), "before an async collective of its team is complete");
}

TEST_P(collectives, name_members_of_a_team_within_a_team_that_differ) {
  if (nodes() < 3) GTEST_SKIP() << "needs two members in one half";
  run([] {
    const std::string text = failure_of([](team& t) {
      team half = t.split(t.rank() % 2);
      if (t.rank() == 0) half.barrier();
      if (t.rank() == 2) half.all_reduce(std::uint64_t{1}, k_plus);
      t.barrier();
    });
    EXPECT_TRUE(has(text, "calls barrier()") && has(text, "calls all_reduce() of 8 bytes")) << text;
    const std::string early = failure_of([](team& t) {
      {
        team half = t.split(t.rank() % 2);
        if (t.rank() != 2) half.barrier();
      }
      t.barrier();
    });
    EXPECT_TRUE(has(early, "calls barrier()") && has(early, "destroys the team")) << early;
    const std::string lengths = failure_of([](team& t) {
      auto v = numbers(t.rank(), t.rank() == 1 ? 2000 : 3000);
      t.all_reduce(std::span(v), k_plus);
    });
    EXPECT_TRUE(has(lengths, "of 16000 bytes") && has(lengths, "of 24000 bytes")) << lengths;
    shoal::spmd([](team& t) { require(t.all_reduce(1U, std::plus<>{}) == t.size(), "after failures"); });
  });
}

TEST_P(collectives, return_what_the_body_returns_here) {
  run([this] {
    const auto names = shoal::spmd([](team& t) { return std::vector<std::string>(t.size(), "here"); });
    EXPECT_EQ(names, std::vector<std::string>(nodes(), "here"));
    const auto elsewhere = shoal::on(nodes() - 1, [] { return shoal::spmd([](team& t) { return t.rank(); }); });
    EXPECT_EQ(elsewhere, nodes() - 1);
  });
}

TEST_P(collectives, from_one_task) {
  run([this] {
    const std::uint64_t n = nodes();
    shoal::node_local<std::uint64_t> value(0);
    shoal::node_local<std::vector<std::uint64_t>> list;
    const auto set = [&] {
      shoal::spmd([v = value.ref(), l = list.ref()](team& t) {
        *v = t.rank() + 1;
        *l = numbers(t.rank(), 2000);
      });
    };
    set();
    EXPECT_EQ(shoal::reduce(value.ref(), k_plus), n * (n + 1) / 2);
    EXPECT_EQ(shoal::reduce(list.ref(), k_plus), sums(nodes(), 2000));
    const auto values = shoal::gather(value.ref());
    const auto lists = shoal::gather(list.ref());
    for (std::uint32_t r = 0; r < n; ++r) {
      EXPECT_EQ(values[r], r + 1);
      EXPECT_TRUE(std::ranges::equal(lists.of(r), numbers(r, 2000)));
    }
    shoal::scan(value.ref(), k_plus);
    EXPECT_EQ(shoal::gather(value.ref()).back(), n * (n + 1) / 2);
    set();
    shoal::exscan(value.ref(), k_plus);
    shoal::exscan(list.ref(), k_plus);
    EXPECT_EQ(shoal::gather(value.ref()).back(), n * (n - 1) / 2);
    EXPECT_TRUE(std::ranges::equal(shoal::gather(list.ref()).of(nodes() - 1), sums(nodes() - 1, 2000)));
    set();
    shoal::all_reduce(list.ref(), k_plus);
    shoal::spmd([l = list.ref()](team& t) {
      require(*l == sums(t.size(), 2000), "all_reduce");
      if (t.rank() == t.size() - 1) *l = numbers(7, 77);
    });
    shoal::broadcast(list.ref(), nodes() - 1);
    shoal::broadcast(value.ref(), nodes() - 1);
    shoal::spmd([v = value.ref(), l = list.ref()](team& t) {
      require(*v == t.size() && *l == numbers(7, 77), "broadcast");
      l->assign(t.size(), t.rank());
    });
    shoal::all_to_all(list.ref());
    shoal::node_local<shoal::blocks<std::uint64_t>> all;
    shoal::all_gather(list.ref(), all.ref());
    shoal::spmd([l = list.ref(), a = all.ref()](team& t) {
      for (std::uint32_t r = 0; r < t.size(); ++r)
        require((*l)[r] == r && std::ranges::equal(a->of(r), *l), "all_to_all, all_gather");
    });
  });
}

}  // namespace

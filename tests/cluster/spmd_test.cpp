// SPDX-License-Identifier: Apache-2.0
#include "shoal/spmd.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/team.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

// On all nodes together.
std::size_t teams_left(std::uint32_t nodes) {
  std::size_t left = 0;
  for (std::uint32_t n = 0; n < nodes; ++n)
    left += shoal::on(n, [] { return shoal::detail::this_port().context->teams->size(); });
  return left;
}

class teams : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(teams);
INSTANTIATE_TEST_SUITE_P(many_nodes, teams, testing::Values(shoal::test::job_shape{16, 1, false}),
                         shoal::test::name_of);

TEST_P(teams, one_body_per_node) {
  run([this] {
    shoal::global_array<std::uint32_t> seen(nodes());
    shoal::spmd([r = seen.ref()](shoal::team& t) {
      if (t.size() == shoal::node_count() && t.rank() == shoal::node_id()) r.add(t.rank(), 1);
    });
    for (unsigned n = 0; n < nodes(); ++n) EXPECT_EQ(seen->get(n), 1U);
  });
}

TEST_P(teams, barriers_separate_phases) {
  run([this] {
    shoal::global_array<std::uint64_t> phase(nodes());
    shoal::global_array<std::uint64_t> wrong(1);
    shoal::spmd([p = phase.ref(), w = wrong.ref()](shoal::team& t) {
      for (std::uint64_t round = 1; round <= 50; ++round) {
        p.async_put(t.rank(), round);
        t.barrier();
        for (unsigned n = 0; n < t.size(); ++n)
          if (p.get(n) != round) w.add(0, 1);
        t.barrier();
      }
    });
    EXPECT_EQ(wrong->get(0), 0U);
  });
}

TEST_P(teams, reduce_and_broadcast) {
  run([this] {
    shoal::global_array<std::uint64_t> wrong(1);
    shoal::spmd([w = wrong.ref()](shoal::team& t) {
      for (std::uint64_t round = 0; round < 20; ++round) {
        const std::uint64_t sum =
            t.all_reduce(t.rank() + round, [](std::uint64_t a, std::uint64_t b) { return a + b; });
        if (sum != t.size() * (t.size() - 1) / 2 + round * t.size()) w.add(0, 1);
        const auto root = static_cast<std::uint32_t>(round % t.size());
        if (t.broadcast(std::uint64_t{1000} * t.rank() + round, root) != 1000 * root + round) w.add(0, 1);
        // Not commutative: the order of nodes must be kept.
        struct span {
          std::uint32_t first, last;
          bool right;
        };
        const auto all = t.all_reduce(span{t.rank(), t.rank(), true}, [](span a, span b) {
          return span{a.first, b.last, a.right && b.right && a.last + 1 == b.first};
        });
        if (!all.right || all.first != 0 || all.last + 1 != t.size()) w.add(0, 1);
      }
    });
    EXPECT_EQ(wrong->get(0), 0U);
  });
}

// What each member saw, as text, in an array that all members can write.
struct sight {
  char text[400] = {};
};

struct observed {
  std::string caller;                // what spmd() threw
  std::vector<std::string> members;  // what the collective threw in each member; empty: nothing
};

// Runs body(team) on each node; a member that sees an exception of the team notes it, and throws it on.
template <class F>
observed observe(unsigned nodes, const F& body) {
  shoal::global_array<sight> sights(nodes, shoal::distribution::cyclic);
  observed seen;
  try {
    shoal::spmd([r = sights.ref(), body](shoal::team& t) {
      try {
        body(t);
      } catch (const shoal::error& e) {
        sight s;
        std::strncpy(s.text, e.what(), sizeof s.text - 1);
        r.put(t.rank(), s);
        throw;
      }
    });
  } catch (const shoal::remote_error& e) {
    seen.caller = e.what();
  }
  EXPECT_EQ(teams_left(nodes), 0U);
  for (unsigned n = 0; n < nodes; ++n) seen.members.emplace_back(sights->get(n).text);
  return seen;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_P(teams, learn_what_a_member_has_thrown) {
  if (nodes() < 2) GTEST_SKIP() << "needs another member";
  run([this] {
    for (const std::uint32_t thrower : {std::uint32_t{0}, nodes() - 1})
      for (const int rounds : {0, 3}) {
        const observed seen = observe(nodes(), [thrower, rounds](shoal::team& t) {
          for (int i = 0; i < rounds; ++i) t.barrier();
          if (t.rank() == thrower) throw std::runtime_error("this member gives up");
          for (;;) t.all_reduce(std::uint64_t{1}, std::plus<>{});
        });
        const std::string words =
            "this member gives up (thrown on node " + std::to_string(thrower) + " as std::runtime_error)";
        EXPECT_EQ(seen.caller, words);
        for (unsigned n = 0; n < nodes(); ++n) EXPECT_EQ(seen.members[n], n == thrower ? "" : words) << n;
      }
  });
}

TEST_P(teams, learn_that_a_member_has_returned) {
  if (nodes() < 2) GTEST_SKIP() << "needs another member";
  run([this] {
    for (const std::uint32_t leaver : {std::uint32_t{0}, nodes() - 1}) {
      const observed seen = observe(nodes(), [leaver](shoal::team& t) {
        t.barrier();
        if (t.rank() == leaver) return;
        for (;;) t.barrier();
      });
      EXPECT_TRUE(has(seen.caller, "as number 2, member ")) << seen.caller;
      const std::string left = "member " + std::to_string(leaver) + " returns from the body";
      EXPECT_TRUE(has(seen.caller, left)) << seen.caller;
      for (unsigned n = 0; n < nodes(); ++n) {
        if (n == leaver) continue;
        EXPECT_TRUE(has(seen.members[n], left)) << n << ": " << seen.members[n];
        EXPECT_TRUE(has(seen.members[n], "calls barrier()")) << n << ": " << seen.members[n];
      }
    }
  });
}

// Each calls a collective in which it waits for the other, or for nobody.
TEST_P(teams, learn_that_a_member_calls_another_collective) {
  if (nodes() < 2) GTEST_SKIP() << "needs another member";
  run([this] {
    constexpr auto call = [](shoal::team& t, int which) {
      switch (which) {
        case 0: t.barrier(); break;
        case 1: t.all_reduce(std::uint64_t{1}, std::plus<>{}); break;
        case 2: t.broadcast(std::uint64_t{1}, 0); break;
        case 3: t.broadcast(std::uint64_t{1}, 1); break;
        case 4: t.broadcast(sight{}, 0); break;
        default: t.all_reduce(sight{}, [](const sight& a, const sight&) { return a; });
      }
    };
    constexpr const char* k_words[] = {"calls barrier()",
                                       "calls all_reduce() of 8 bytes",
                                       "calls broadcast() of 8 bytes from member 0",
                                       "calls broadcast() of 8 bytes from member 1",
                                       "calls broadcast() of 400 bytes from member 0",
                                       "calls all_reduce() of 400 bytes"};
    const std::uint32_t odd = nodes() - 1;
    for (int all = 0; all < 6; ++all)
      for (int other = 0; other < 6; ++other) {
        if (all == other) continue;
        const observed seen = observe(nodes(), [=](shoal::team& t) {
          t.barrier();
          call(t, t.rank() == odd ? other : all);
          for (;;) t.barrier();
        });
        const auto names_both = [&](const std::string& text) {
          return has(text, "member " + std::to_string(odd) + " " + k_words[other]) && has(text, k_words[all]);
        };
        EXPECT_TRUE(names_both(seen.caller)) << seen.caller;
        for (unsigned n = 0; n < nodes(); ++n)
          EXPECT_TRUE(names_both(seen.members[n])) << all << " " << other << " " << n << ": " << seen.members[n];
      }
  });
}

TEST_P(teams, that_have_failed_leave_nothing_behind_for_the_next) {
  run([this] {
    for (int round = 0; round < 20; ++round) {
      EXPECT_THROW(shoal::spmd([round](shoal::team& t) {
                     if (t.rank() == static_cast<unsigned>(round) % t.size()) throw std::runtime_error("again");
                     t.broadcast(1);
                     t.broadcast(2);
                   }),
                   shoal::remote_error);
      shoal::spmd([](shoal::team& t) {
        if (t.all_reduce(1U, std::plus<>{}) != t.size()) throw std::logic_error("wrong sum");
      });
      EXPECT_EQ(teams_left(nodes()), 0U);
    }
  });
}

TEST_P(teams, whose_members_all_fail_tell_each_other_once) {
  run([this] {
    for (int round = 0; round < 10; ++round) {
      EXPECT_THROW(shoal::spmd([](shoal::team& t) {
                     if (t.rank() % 2 == 0) throw std::runtime_error("all of them");
                     t.barrier();
                     throw std::logic_error("a barrier without half of the members");
                   }),
                   shoal::remote_error);
      EXPECT_EQ(teams_left(nodes()), 0U);
    }
  });
}

}  // namespace

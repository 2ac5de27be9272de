// SPDX-License-Identifier: Apache-2.0
#include "shoal/spmd.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

class teams : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(teams);

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
        const std::uint64_t sum = t.reduce(t.rank() + round, [](std::uint64_t a, std::uint64_t b) { return a + b; });
        if (sum != t.size() * (t.size() - 1) / 2 + round * t.size()) w.add(0, 1);
        const auto root = static_cast<std::uint32_t>(round % t.size());
        if (t.broadcast(std::uint64_t{1000} * t.rank() + round, root) != 1000 * root + round) w.add(0, 1);
        // Not commutative: the order of nodes must be kept.
        struct span {
          std::uint32_t first, last;
          bool right;
        };
        const auto all = t.reduce(span{t.rank(), t.rank(), true}, [](span a, span b) {
          return span{a.first, b.last, a.right && b.right && a.last + 1 == b.first};
        });
        if (!all.right || all.first != 0 || all.last + 1 != t.size()) w.add(0, 1);
      }
    });
    EXPECT_EQ(wrong->get(0), 0U);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// combined_updates in jobs of all shapes: what is combined is what single updates would have made.
#include "shoal/combined_updates.hpp"

#include <algorithm>
#include <vector>

#include "remote/worker_port.hpp"
#include "shoal/quiesce.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::combine;
using shoal::combined_updates;
using shoal::everywhere;
using shoal::global_array;

// In buffers of this worker that have left.
std::uint64_t words_sent_here() {
  return static_cast<const shoal::remote::worker_port&>(shoal::detail::this_port()).flushes().words;
}

class combined : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(combined);

// Few elements that many updates hit, among many that few hit.
constexpr std::uint64_t k_size = 5000;
constexpr std::uint64_t k_updates = 60'000;
std::uint64_t target(std::uint64_t i) { return i % 3 != 0 ? i % 7 : i * 7919 % k_size; }

TEST_P(combined, sums_are_those_of_single_adds) {
  run([] {
    global_array<std::uint64_t> together(k_size), alone(k_size);
    {
      const combined_updates<std::uint64_t> sums(together);
      shoal::parallel_for(everywhere, k_updates, [s = sums.ref(), a = alone.ref()](std::uint64_t i) {
        s.async(target(i), i);
        a.async_add(target(i), i);
      });
      std::vector<std::uint64_t> got(k_size), wanted(k_size);
      together->get(0, std::span(got));
      alone->get(0, std::span(wanted));
      EXPECT_EQ(got, wanted);
    }
  });
}

TEST_P(combined, minima_and_maxima) {
  run([] {
    global_array<std::int32_t> least(k_size), most(k_size);
    least->fill(1 << 30);
    most->fill(-(1 << 30));
    const combined_updates<std::int32_t, combine::min> minima(least);
    const combined_updates<std::int32_t, combine::max> maxima(most);
    shoal::parallel_for(everywhere, k_updates, [l = minima.ref(), m = maxima.ref()](std::uint64_t i) {
      const auto value = static_cast<std::int32_t>(i * 40503 % 100'003) - 50'000;
      l.async(target(i), value);
      m.async(target(i), value);
    });
    std::vector<std::int32_t> low(k_size, 1 << 30), high(k_size, -(1 << 30));
    for (std::uint64_t i = 0; i < k_updates; ++i) {
      const auto value = static_cast<std::int32_t>(i * 40503 % 100'003) - 50'000;
      low[target(i)] = std::min(low[target(i)], value);
      high[target(i)] = std::max(high[target(i)], value);
    }
    std::vector<std::int32_t> got(k_size);
    least->get(0, std::span(got));
    EXPECT_EQ(got, low);
    most->get(0, std::span(got));
    EXPECT_EQ(got, high);
  });
}

TEST_P(combined, one_takes_the_place_of_another) {
  run([] {
    global_array<std::int32_t> a(100), b(100);
    combined_updates<std::int32_t> sums(a);
    shoal::parallel_for(everywhere, 1000, [s = sums.ref()](std::uint64_t i) { s.async(i % 100, 1); });
    sums->async(99, 5);
    sums = combined_updates<std::int32_t>(b);
    EXPECT_EQ(a->get(99), 15);
    for (int k = 0; k < 3; ++k) sums->async(99, std::int32_t{1} << 30);
    shoal::wait();
    EXPECT_EQ(b->get(99), static_cast<std::int32_t>(3U << 30));  // wraps
  });
}

// A task's own wait completes what it has begun, and what others of its worker have begun is not lost.
TEST_P(combined, a_wait_completes_them) {
  run([] {
    global_array<double> a(64);
    const combined_updates<double> sums(a);
    shoal::parallel_for(everywhere, 256, [s = sums.ref()](std::uint64_t i) {
      for (int k = 0; k < 8; ++k) s.async(i % 64, 0.5);
      shoal::wait();
      if (i % 16 == 0) s.async((i + 1) % 64, 0.25);
    });
    for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(a->get(i), 16.0 + (i % 16 == 1 ? 1.0 : 0.0)) << i;
  });
}

// Updates of one element cost one command for each worker and wait.
TEST_P(combined, travel_as_one) {
  if (nodes() == 1 || GetParam().direct) return;
  run([] {
    global_array<std::uint64_t> a(1);
    const combined_updates<std::uint64_t> sums(a);
    const std::uint32_t other = shoal::node_count() - 1;
    const auto words_of = [&](bool together) {
      return shoal::async_on(other,
                             [s = sums.ref(), together] {
                               const std::uint64_t before = words_sent_here();
                               for (int k = 0; k < 10'000; ++k) {
                                 if (together)
                                   s.async(0, 1);
                                 else
                                   s.array().async_add(0, 1);
                               }
                               shoal::wait();
                               return words_sent_here() - before;
                             })
          .get();
    };
    const std::uint64_t alone = words_of(false), together = words_of(true);
    EXPECT_GE(alone, 10'000U);
    EXPECT_LT(together, 100U);
    EXPECT_EQ(a->get(0), 20'000U);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The elements of a range in order, and loops over pieces of memory where it is.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "shoal/shoal.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::distribution;
using shoal::global_array;

class array_streams : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(array_streams);

constexpr std::uint64_t k_size = 30'011;

const shoal::distribution_plan k_plans[] = {distribution::partition, distribution::cyclic, distribution::remote,
                                            shoal::block_cyclic(7), shoal::block_cyclic(1000)};

struct triple {
  std::uint64_t a, b, c;
};

template <class T, class Make>
void check_stream(const shoal::distribution_plan& plan, const Make& make) {
  global_array<T> a(k_size, plan);
  for (std::uint64_t i = 0; i < k_size; ++i) a->async_put(i, make(i));
  shoal::wait();
  const std::uint64_t ranges[][2] = {{0, k_size}, {1, 2}, {k_size - 3, k_size}, {5000, 25'000}, {7, 7}, {9, 3}};
  for (const auto& [first, last] : ranges) {
    std::uint64_t expected = first;
    shoal::for_each(a.ref(), first, last, [&](std::uint64_t i, const T& value) {
      ASSERT_EQ(i, expected++);
      const T made = make(i);
      ASSERT_EQ(std::memcmp(&value, &made, sizeof(T)), 0) << i;
    });
    ASSERT_EQ(expected, std::max(first, last));
  }
}

TEST_P(array_streams, give_all_elements_in_order) {
  run([] {
    for (const auto& plan : k_plans) check_stream<std::uint64_t>(plan, [](std::uint64_t i) { return i * i; });
    check_stream<std::uint16_t>(k_plans[0], [](std::uint64_t i) { return static_cast<std::uint16_t>(i); });
    check_stream<triple>(k_plans[1], [](std::uint64_t i) { return triple{i, ~i, 1}; });
  });
}

TEST_P(array_streams, of_many_tasks_read_at_once_while_they_wait_for_other_things) {
  run([] {
    global_array<std::uint32_t> a(k_size);
    shoal::parallel_for(shoal::owners_of(a), k_size,
                        [a = a.ref()](std::uint64_t i) { a.async_put(i, static_cast<std::uint32_t>(i)); });
    shoal::parallel_for(shoal::everywhere, 24, [a = a.ref()](std::uint64_t task) {
      const std::uint64_t first = task * 997;
      std::uint64_t sum = 0, expected = 0;
      std::uint64_t i = first;
      for (const std::uint32_t x : shoal::element_stream(a, first, k_size)) {
        if (i % 4096 == 0) {
          EXPECT_EQ(a.get(i), x);
          shoal::yield();
        }
        sum += x;
        expected += i++;
      }
      EXPECT_EQ(i, k_size);
      EXPECT_EQ(sum, expected);
      shoal::element_stream left(a, 0, k_size);  // ends with copies on their way
      EXPECT_FALSE(left.next().empty());
    });
  });
}

TEST_P(array_streams, parts_are_pieces_of_memory_that_cover_the_range_once) {
  run([] {
    for (const auto& plan : k_plans) {
      global_array<std::uint64_t> a(k_size, plan);
      shoal::parallel_for(shoal::parts_of(a), [a = a.ref()](std::uint64_t first, std::span<std::uint64_t> x) {
        EXPECT_EQ(a.owner(first), shoal::node_id());
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += first + k;
      });
      shoal::parallel_for(
          shoal::parts_of(a, 100, 20'000),
          [](std::uint64_t, std::span<std::uint64_t> x) {
            EXPECT_LE(x.size(), 500U);
            for (std::uint64_t& one : x) one *= 3;
          },
          shoal::simple_partitioner{500});
      for (std::uint64_t i = 0; i < k_size; i += 97) ASSERT_EQ(a->get(i), i >= 100 && i < 20'000 ? 3 * i : i);
      const auto sum = shoal::parallel_reduce(
          shoal::parts_of(a), std::uint64_t{0},
          [](std::uint64_t, std::span<const std::uint64_t> x) {
            return std::accumulate(x.begin(), x.end(), std::uint64_t{0});
          },
          std::plus<>());
      const auto below = [](std::uint64_t n) { return n * (n - 1) / 2; };
      EXPECT_EQ(sum, below(k_size) + 2 * (below(20'000) - below(100)));
    }
    global_array<int> one(1);
    EXPECT_THROW(shoal::parallel_for(shoal::parts_of(one),
                                     [](std::uint64_t, std::span<int>) { throw std::runtime_error("no"); }),
                 shoal::remote_error);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The elements of a range in order, loops over pieces of memory where it is, and caches of what is read.
#include <algorithm>
#include <atomic>
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
INSTANTIATE_TEST_SUITE_P(many, array_streams, testing::Values(shoal::test::job_shape{16, 1, false}),
                         shoal::test::name_of);

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

struct wide {
  std::uint64_t a, b, c;
  bool operator==(const wide&) const = default;
};

TEST_P(array_streams, read_caches_give_what_the_array_has) {
  run([] {
    for (const std::uint64_t size : {1, 3, 1000})
      for (const auto& plan : {shoal::distribution_plan(shoal::distribution::partition),
                               shoal::distribution_plan(shoal::distribution::cyclic), shoal::block_cyclic(7)})
        for (const std::uint32_t elements : {1U, 8U}) {
          const global_array<std::uint16_t> small(size, plan);
          const global_array<double> a(size, plan);
          const global_array<wide> large(size, plan);
          for (std::uint64_t i = 0; i < size; ++i) {
            small->async_put(i, static_cast<std::uint16_t>(3 * i));
            a->async_put(i, 0.5 * static_cast<double>(i));
            large->async_put(i, {i, i + 1, i + 2});
          }
          shoal::wait();
          // 512 bytes: lines are replaced all the time.
          const shoal::read_cache<std::uint16_t> of_small(small, {512, elements});
          const shoal::read_cache<double> of_a(a.ref(), {512, elements});
          const shoal::read_cache<wide> of_large(large, {512, elements});
          shoal::parallel_for(
              shoal::everywhere, 3000, [size, s = of_small.ref(), a = of_a.ref(), l = of_large.ref()](std::uint64_t k) {
                const std::uint64_t i = shoal::mix64(k) % (k % 3 == 0 ? size : std::min<std::uint64_t>(size, 20));
                EXPECT_EQ(a.get(i), 0.5 * static_cast<double>(i));
                EXPECT_TRUE(l.get(i) == (wide{i, i + 1, i + 2}));
                std::uint16_t got[3] = {};
                const shoal::wait_at_exit complete;
                s.async_get(i, &got[0]);
                s.async_get((i + 1) % size, &got[1]);
                s.async_get(i, &got[2]);
                shoal::wait();
                EXPECT_EQ(got[0], static_cast<std::uint16_t>(3 * i));
                EXPECT_EQ(got[1], static_cast<std::uint16_t>(3 * ((i + 1) % size)));
                EXPECT_EQ(got[2], got[0]);
              });
        }
    const shoal::read_cache<int> of_nothing{global_array<int>()};
    EXPECT_EQ(of_nothing.counts().misses, 0U);
  });
}

TEST_P(array_streams, read_caches_fetch_a_line_once) {
  run([this] {
    const std::uint64_t size = 64 * nodes();
    const global_array<std::uint64_t> a(size);
    for (std::uint64_t i = 0; i < size; ++i) a->async_put(i, i + 7);
    shoal::wait();
    {
      const shoal::read_cache<std::uint64_t> cache(a, {1 << 16, 16});
      // All of the array is read again and again, from this node by many tasks.
      std::atomic<std::uint64_t> wrong{0};
      shoal::parallel_for(shoal::here, 10 * size, [&](std::uint64_t k) {
        if (cache->get(k % size) != k % size + 7) ++wrong;
      });
      EXPECT_EQ(wrong, 0U);
      const shoal::read_cache_counts n = cache.counts();
      if (GetParam().direct || nodes() == 1) {
        EXPECT_EQ(n.hits + n.misses + n.merged + n.bypassed, 0U);
      } else {
        const std::uint64_t remote = size - 64;
        EXPECT_EQ(n.hits + n.misses + n.merged + n.bypassed, 10 * remote);
        EXPECT_GE(n.misses, remote / 16);
        EXPECT_LE(n.misses + n.bypassed, GetParam().workers * remote / 16);
      }
      std::uint64_t one = 0;
      cache->async_get(size - 1, &one);
      shoal::wait();
      EXPECT_EQ(one, size + 6);
      for (std::uint32_t node = 0; node < shoal::node_count(); ++node)  // in handlers
        shoal::async_at(node, [c = cache.ref(), a = a.ref(), node] {
          EXPECT_EQ(c.get(a.local_range().first), a.local_range().first + 7);
        });
      shoal::quiesce();
    }
    a->put(size - 1, 1);  // no cache is left
    EXPECT_EQ(a->get(size - 1), 1U);
  });
}

#ifdef SHOAL_CHECKED
using read_cache_death = array_streams;
INSTANTIATE_TEST_SUITE_P(shapes, read_cache_death,
                         testing::Values(shoal::test::job_shape{2, 1, false}, shoal::test::job_shape{2, 2, true}),
                         shoal::test::name_of);

TEST_P(read_cache_death, that_an_array_with_a_cache_is_modified) {
  const auto modified = [this](auto&& change) {
    EXPECT_DEATH(run([&] {
                   const global_array<std::uint64_t> a(100);
                   const global_array<std::uint64_t> b(100);
                   const shoal::read_cache<std::uint64_t> cache(a);
                   b->fill(3);
                   static_cast<void>(cache->get(99));
                   change(a.ref(), b.ref());
                 }),
                 "modified while a read_cache");
  };
  modified([](auto a, auto) { a.put(99, 1); });
  modified([](auto a, auto) { a.async_add(0, 1); });
  modified([](auto a, auto) { a.fill(1); });
  modified([](auto a, auto b) { a.copy(0, b, 0, 10); });
  modified([](auto a, auto) { a.update(5, [](std::uint64_t& x) { ++x; }); });
  modified([](auto a, auto) {
    shoal::on(1, [a] {
      const std::vector<std::uint64_t> indices{3};
      a.scatter(indices, std::vector<std::uint64_t>{1});
    });
  });
}
#endif

}  // namespace

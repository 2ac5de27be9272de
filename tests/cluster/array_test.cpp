// SPDX-License-Identifier: Apache-2.0
#include "shoal/array.hpp"

#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_ref;
using shoal::distribution;
using shoal::everywhere;
using shoal::global_array;

class arrays : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(arrays);

constexpr distribution k_kinds[] = {distribution::partition, distribution::local, distribution::remote,
                                    distribution::cyclic};

TEST_P(arrays, begin_zero_and_keep_what_is_put) {
  run([] {
    for (const auto kind : k_kinds)
      for (const std::uint64_t size : {1, 2, 3, 7, 64, 1000}) {
        global_array<std::uint64_t> a(size, kind);
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(a->get(i), 0U);
        for (std::uint64_t i = 0; i < size; ++i) a->put(i, ~i);
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(a->get(i), ~i) << size << " " << static_cast<int>(kind);
      }
  });
}

template <class T>
void check_verbs() {
  global_array<T> a(16);
  const array_ref<T> r = a;
  for (std::uint64_t i = 0; i < r.size(); ++i) {
    r.put(i, static_cast<T>(7));
    EXPECT_EQ(r.get(i), static_cast<T>(7));
    EXPECT_EQ(r.fetch_add(i, static_cast<T>(5)), static_cast<T>(7));
    r.add(i, static_cast<T>(1));
    EXPECT_EQ(r.get(i), static_cast<T>(13));
    EXPECT_EQ(r.fetch_min(i, static_cast<T>(4)), static_cast<T>(13));
    r.min(i, static_cast<T>(9));
    EXPECT_EQ(r.fetch_max(i, static_cast<T>(100)), static_cast<T>(4));
    r.max(i, static_cast<T>(3));
    EXPECT_EQ(r.exchange(i, static_cast<T>(12)), static_cast<T>(100));
    EXPECT_EQ(r.compare_exchange(i, static_cast<T>(11), static_cast<T>(1)), static_cast<T>(12));
    EXPECT_EQ(r.compare_exchange(i, static_cast<T>(12), static_cast<T>(2)), static_cast<T>(12));
    EXPECT_EQ(r.get(i), static_cast<T>(2));
    if constexpr (std::is_integral_v<T>) {
      r.put(i, static_cast<T>(0x5c));
      EXPECT_EQ(r.fetch_and(i, static_cast<T>(0x0f)), static_cast<T>(0x5c));
      EXPECT_EQ(r.fetch_or(i, static_cast<T>(0x60)), static_cast<T>(0x0c));
      r.bit_and(i, static_cast<T>(0x70));
      r.bit_or(i, static_cast<T>(0x01));
      EXPECT_EQ(r.get(i), static_cast<T>(0x61));
      EXPECT_EQ(r.fetch_xor(i, static_cast<T>(0x21)), static_cast<T>(0x61));
      r.bit_xor(i, static_cast<T>(0x07));
      EXPECT_EQ(r.get(i), static_cast<T>(0x47));
    }
    if constexpr (std::is_signed_v<T>) {
      r.put(i, static_cast<T>(-3));
      r.add(i, static_cast<T>(-4));
      EXPECT_EQ(r.fetch_min(i, static_cast<T>(-100)), static_cast<T>(-7));
      EXPECT_EQ(r.get(i), static_cast<T>(-100));
    }
    // The limits of the range, and values below and above the size that fits into a command's header.
    for (const T v : {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(), static_cast<T>(2047),
                      static_cast<T>(2048), static_cast<T>(-2047), static_cast<T>(-2048), static_cast<T>(-2049)}) {
      r.put(i, v);
      EXPECT_EQ(r.get(i), v);
      r.async_put(i, static_cast<T>(1));
      shoal::wait();
      r.async_put(i, v);
      shoal::wait();
      EXPECT_EQ(r.exchange(i, static_cast<T>(0)), v);
    }
  }
}

TEST_P(arrays, have_all_verbs_for_all_element_types) {
  run([] {
    check_verbs<std::uint8_t>();
    check_verbs<std::int8_t>();
    check_verbs<std::uint16_t>();
    check_verbs<std::int16_t>();
    check_verbs<std::uint32_t>();
    check_verbs<std::int32_t>();
    check_verbs<std::uint64_t>();
    check_verbs<std::int64_t>();
    check_verbs<float>();
    check_verbs<double>();
  });
}

TEST_P(arrays, async_verbs_are_complete_after_wait) {
  run([] {
    constexpr std::uint64_t k_size = 20000;
    global_array<std::uint32_t> a(k_size);
    const array_ref<std::uint32_t> r = a;
    for (std::uint64_t i = 0; i < k_size; ++i) r.async_put(i, static_cast<std::uint32_t>(i * i));
    shoal::wait();
    std::vector<std::uint32_t> got(k_size);
    for (std::uint64_t i = 0; i < k_size; ++i) r.async_get(i, &got[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(got[i], static_cast<std::uint32_t>(i * i));
    std::vector<std::uint32_t> old(k_size);
    for (std::uint64_t i = 0; i < k_size; ++i) r.async_fetch_add(i, 1000000, &old[i]);
    shoal::wait();
    ASSERT_EQ(old, got);
    for (std::uint64_t i = 0; i < k_size; ++i) r.async_exchange(i, 5, &old[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(old[i], got[i] + 1000000);
    for (std::uint64_t i = 0; i < k_size; ++i) r.async_compare_exchange(i, i % 2 == 0 ? 5 : 6, 7, &old[i]);
    shoal::wait();
    for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(r.get(i), i % 2 == 0 ? 7U : 5U);
  });
}

TEST_P(arrays, count_exactly_under_contention_from_all_nodes) {
  run([] {
    constexpr std::uint64_t k_cells = 3;
    constexpr std::uint64_t k_iterations = 20000;
    global_array<std::uint64_t> a(k_cells, distribution::cyclic);
    shoal::parallel_for(everywhere, k_iterations, [r = a.ref()](std::uint64_t i) {
      r.async_add(i % k_cells, 1);
      if (i % 16 == 0) r.add(i % k_cells, 1);
    });
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < k_cells; ++i) sum += a->get(i);
    EXPECT_EQ(sum, k_iterations + k_iterations / 16);
  });
}

struct particle {
  double x;
  double y;
  double z;
  std::int32_t charge;
  char name[5];
};

TEST_P(arrays, hold_any_trivially_copyable_type) {
  run([] {
    for (const auto kind : k_kinds) {
      global_array<particle> a(100, kind);
      for (int i = 0; i < 100; ++i)
        a->put(static_cast<std::uint64_t>(i),
               particle{1.0 * i, 2.0 * i, 3.0 * i, -i, {'p', static_cast<char>(i), 0, 0, 0}});
      for (int i = 0; i < 100; ++i) {
        const particle p = a->get(static_cast<std::uint64_t>(i));
        ASSERT_EQ(p.z, 3.0 * i);
        ASSERT_EQ(p.charge, -i);
        ASSERT_EQ(p.name[1], static_cast<char>(i));
      }
    }
  });
}

TEST_P(arrays, move_many_elements_at_once_more_than_a_buffer_holds) {
  run([] {
    for (const auto kind : k_kinds) {
      constexpr std::uint64_t k_size = 50001;
      global_array<std::uint16_t> a(k_size, kind);
      std::vector<std::uint16_t> values(k_size);
      for (std::uint64_t i = 0; i < k_size; ++i) values[i] = static_cast<std::uint16_t>(shoal::splitmix64::at(1, i));
      a->put(0, std::span<const std::uint16_t>(values));
      std::vector<std::uint16_t> got(k_size - 10);
      a->get(7, std::span(got));
      for (std::uint64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], values[i + 7]);
      a->async_put(3, std::span<const std::uint16_t>(values).first(40000));
      shoal::wait();
      ASSERT_EQ(a->get(3), values[0]);
      ASSERT_EQ(a->get(40002), values[39999]);
    }
  });
}

TEST_P(arrays, are_filled_and_copied) {
  run([] {
    for (const auto from_kind : k_kinds)
      for (const auto to_kind : k_kinds) {
        constexpr std::uint64_t k_size = 3001;
        global_array<std::int32_t> from(k_size, from_kind);
        global_array<std::int32_t> to(k_size + 50, to_kind);
        to->fill(-7);
        for (std::uint64_t i = 0; i < k_size; ++i) from->async_put(i, static_cast<std::int32_t>(i));
        shoal::wait();
        to->copy(20, from, 5, 2900);
        for (std::uint64_t i = 0; i < to.size(); ++i)
          ASSERT_EQ(to->get(i), i >= 20 && i < 2920 ? static_cast<std::int32_t>(i - 15) : -7) << i;
      }
  });
}

// The smallest shift, one that crosses a node's part, and some that are larger than it, in both directions.
template <class T>
void check_overlapping_copy(distribution kind, std::uint64_t size) {
  for (const std::uint64_t shift : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, size / 4, size / 2})
    for (const bool up : {true, false}) {
      global_array<T> a(size, kind);
      std::vector<T> values(size);
      for (std::uint64_t i = 0; i < size; ++i) values[i] = static_cast<T>(shoal::splitmix64::at(3, i));
      a->put(0, std::span<const T>(values));
      const std::uint64_t count = size - shift - 2;
      const std::uint64_t to = up ? 1 + shift : 1;
      const std::uint64_t from = up ? 1 : 1 + shift;
      std::memmove(values.data() + to, values.data() + from, count * sizeof(T));
      a->copy(to, a, from, count);
      std::vector<T> got(size);
      a->get(0, std::span(got));
      ASSERT_EQ(got, values) << static_cast<int>(kind) << " by " << shift << (up ? " up" : " down");
    }
}

TEST_P(arrays, are_copied_onto_themselves_as_memmove_does) {
  run([] {
    for (const auto kind : k_kinds) {
      check_overlapping_copy<std::uint64_t>(kind, 3001);
      check_overlapping_copy<std::uint8_t>(kind, 1000);
      check_overlapping_copy<std::uint16_t>(kind, 20);
    }
  });
}

// Shifts that are small and large in comparison with what a copy may keep outside of the array.
TEST_P(arrays, are_copied_onto_themselves_in_more_than_one_block) {
  run([] {
    constexpr std::uint64_t k_size = 3 << 17;  // 3 MiB
    for (const auto kind : {distribution::partition, distribution::cyclic})
      for (const std::uint64_t shift : {3, 140'000}) {
        global_array<std::uint64_t> a(k_size, kind);
        for (std::uint64_t i = 0; i < k_size; ++i) a->async_put(i, i);
        shoal::wait();
        std::vector<std::uint64_t> got(k_size);
        a->copy(shift, a, 0, k_size - shift);
        a->get(0, std::span(got));
        for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(got[i], i < shift ? i : i - shift) << shift;
        a->copy(0, a, shift, k_size - shift);
        a->get(0, std::span(got));
        for (std::uint64_t i = 0; i < k_size - shift; ++i) ASSERT_EQ(got[i], i) << shift;
      }
  });
}

struct page {
  std::uint64_t words[2500];  // more than a request contains
};

TEST_P(arrays, are_filled_with_large_elements_too) {
  run([] {
    page one;
    for (std::uint64_t i = 0; i < 2500; ++i) one.words[i] = i;
    global_array<page> a(9, distribution::cyclic);
    a->fill(one);
    for (std::uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a->get(i).words[2499], 2499U);
  });
}

TEST_P(arrays, keep_what_is_put_while_they_are_filled_where_it_was_put) {
  run([this] {
    constexpr std::uint64_t k_size = 1 << 19;
    global_array<std::uint32_t> a(k_size);
    const std::uint64_t part = (k_size + nodes() - 1) / nodes();
    std::atomic<bool> done{false};
    auto putting = shoal::async([&done, part, r = a.ref()] {  // writes the first element of each part
      while (!done.load()) {
        for (std::uint64_t i = 0; i < k_size; i += part) r.put(i, 5);
        shoal::yield();
      }
    });
    std::uint64_t wrong = 0;
    std::vector<std::uint32_t> got(k_size);
    for (int round = 0; round < 20; ++round) {
      a->fill(3);
      a->get(0, std::span(got));
      for (std::uint64_t i = 0; i < k_size; ++i) wrong += got[i] == 3 || (got[i] == 5 && i % part == 0) ? 0 : 1;
    }
    done.store(true);
    putting.get();
    EXPECT_EQ(wrong, 0U);
  });
}

TEST_P(arrays, of_no_elements_have_all_that_needs_none) {
  run([] {
    const global_array<std::uint64_t> a(0);
    const global_array<std::uint64_t> never;
    for (const auto& r : {a.ref(), never.ref()}) {
      std::vector<std::uint64_t> nothing;
      r.get(0, std::span(nothing));
      r.put(0, std::span<const std::uint64_t>(nothing));
      r.async_get(0, std::span(nothing));
      r.fill(1);
      r.copy(0, a, 0, 0);
      EXPECT_TRUE(r.local().empty());
    }
  });
}

TEST_P(arrays, of_bool_agree_on_all_ways) {
  run([] {
    global_array<bool> a(40, distribution::cyclic);
    for (std::uint64_t i = 0; i < a.size(); ++i) {
      a->put(i, true);
      EXPECT_EQ(a->exchange(i, false), true);
      EXPECT_EQ(a->compare_exchange(i, false, true), false);
      a->min(i, true);
      EXPECT_EQ(a->fetch_max(i, true), true);
      EXPECT_EQ(a->get(i), true);
      a->async_put(i, i % 2 == 0);
    }
    shoal::wait();
    for (std::uint64_t i = 0; i < a.size(); ++i) EXPECT_EQ(a->get(i), i % 2 == 0);
  });
}

// Over UCX copies by the network, of which more are in flight than a worker may have.
TEST_P(arrays, many_spans_are_in_flight_at_once) {
  auto c = config();
  c.one_sided_bytes = 64;
  c.network_memory = c.transport == "ucx" && !c.direct;
  c.segment_bytes = 16 << 20;
  shoal::runtime::run_in_process(c, [] {
    constexpr std::uint64_t k_size = 60'000, k_span = 300;
    for (const auto& plan : {shoal::distribution_plan(distribution::partition), shoal::block_cyclic(100)}) {
      const global_array<std::uint64_t> a(k_size, plan);
      std::vector<std::uint64_t> some(k_span);
      for (std::uint64_t i = 0; i < k_size; i += k_span) {  // values are copied at the call
        std::iota(some.begin(), some.end(), i);
        a->async_put(i, std::span<const std::uint64_t>(some));
      }
      shoal::wait();
      std::vector<std::uint64_t> got(k_size);
      for (std::uint64_t i = 0; i < k_size; i += k_span) a->async_get(i, std::span(got).subspan(i, k_span));
      shoal::wait();
      for (std::uint64_t i = 0; i < k_size; ++i) EXPECT_EQ(got[i], i);
      std::fill(got.begin(), got.end(), 0);
      a->get(0, std::span(got));  // of all nodes
      for (std::uint64_t i = 0; i < k_size; ++i) EXPECT_EQ(got[i], i);
    }
    return 0;
  });
}

TEST_P(arrays, give_each_node_its_part_as_a_span) {
  run([] {
    for (const auto kind : k_kinds) {
      constexpr std::uint64_t k_size = 1003;
      global_array<std::uint64_t> a(k_size, kind);
      shoal::spmd([r = a.ref()](shoal::team&) {
        const auto range = r.local_range();
        auto part = r.local();
        for (std::uint64_t k = 0; k < part.size(); ++k) part[k] = 3 * (range.first + k * range.stride);
      });
      for (std::uint64_t i = 0; i < k_size; ++i) ASSERT_EQ(a->get(i), 3 * i);
    }
  });
}

TEST_P(arrays, give_memory_back_and_are_zero_again) {
  run([] {
    for (int round = 0; round < 40; ++round) {
      global_array<std::uint64_t> a(1 << 20);  // forty of these do not fit into the segments together
      ASSERT_EQ(a->get(12345), 0U);
      a->put(12345, 1);
      global_array<std::uint64_t> b(100);
      global_array<std::uint64_t> moved = std::move(b);
      moved->put(99, 5);
      ASSERT_EQ(moved->get(99), 5U);
    }
  });
}

TEST_P(arrays, refuse_more_than_there_is_and_say_how_much) {
  run([] {
    try {
      global_array<std::uint64_t> a(std::uint64_t{1} << 45);
      FAIL() << "256 TiB were given";
    } catch (const shoal::error& e) {
      EXPECT_EQ(e.code(), shoal::errc::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("TiB"), std::string::npos) << e.what();
    }
    EXPECT_THROW(global_array<std::uint64_t>(~std::uint64_t{0}), shoal::error);
    EXPECT_THROW(global_array<std::uint64_t>(~std::uint64_t{0} / 8 + 2), shoal::error);
    global_array<std::uint64_t> works(10);  // and goes on
    works->put(9, 1);
    EXPECT_EQ(works->get(9), 1U);
  });
}

}  // namespace

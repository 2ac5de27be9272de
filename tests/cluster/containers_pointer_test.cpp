// SPDX-License-Identifier: Apache-2.0
// Global pointers to single objects, in jobs of all shapes.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "shoal/global_ptr.hpp"
#include "shoal/parallel_for.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::global_ptr;
using shoal::make_on;

class containers_pointer : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(containers_pointer);

struct part {
  global_ptr<part> next;
  std::uint64_t number = 0;
};

TEST_P(containers_pointer, keeps_others_out_while_a_function_waits) {
  run([this] {
    const auto p = make_on<std::uint64_t>(nodes() - 1, std::uint64_t{0});
    shoal::parallel_for(shoal::everywhere, 40, [p](std::uint64_t) {
      p.update([](std::uint64_t& value) {
        const std::uint64_t before = value;
        shoal::yield();
        value = before + 1;
      });
    });
    EXPECT_EQ(p.get(), 40U);
    p.free();
  });
}

TEST_P(containers_pointer, reaches_objects_on_all_nodes) {
  run([this] {
    const global_ptr<std::uint64_t> none;
    EXPECT_FALSE(none);
    for (std::uint32_t n = 0; n < nodes(); ++n) {
      const auto p = make_on<std::uint64_t>(n, std::uint64_t{5});
      EXPECT_TRUE(p);
      EXPECT_EQ(p.node(), n);
      EXPECT_EQ(p.get(), 5U);
      p.put(7);
      EXPECT_EQ(p.update([](std::uint64_t& value) { return ++value; }), 8U);
      EXPECT_EQ(p.async_get().get(), 8U);
      EXPECT_EQ(p.async_update([](std::uint64_t& value) { return value *= 2; }).get(), 16U);
      EXPECT_EQ(p.update([](std::uint64_t&) { return shoal::node_id(); }), n);
      EXPECT_EQ(p, global_ptr<std::uint64_t>(p));
      EXPECT_NE(p, none);
      p.free();
    }
  });
}

TEST_P(containers_pointer, updates_of_one_object_lose_nothing) {
  run([this] {
    const auto sum = make_on<std::uint64_t>(nodes() - 1);
    EXPECT_EQ(sum.get(), 0U);
    shoal::parallel_for(shoal::everywhere, 2000,
                        [sum](std::uint64_t i) { sum.update([i](std::uint64_t& value) { value += i; }); });
    EXPECT_EQ(sum.get(), 2000U * 1999 / 2);
    sum.free();
  });
}

TEST_P(containers_pointer, makes_lists_over_nodes) {
  run([this] {
    global_ptr<part> first;
    for (std::uint64_t i = 0; i < 20; ++i)
      first = make_on<part>(static_cast<std::uint32_t>(i % nodes()), part{first, i});
    std::uint64_t wanted = 20;
    while (first) {
      const part p = first.get();
      EXPECT_EQ(p.number, --wanted);
      first.free();
      first = p.next;
    }
    EXPECT_EQ(wanted, 0U);
  });
}

struct counted {
  explicit counted(int v) : values(1, v) {
    if (v < 0) throw std::invalid_argument("it is negative");
    ++alive;
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  std::vector<int> values;
  static inline std::atomic<int> alive{0};
};

TEST_P(containers_pointer, objects_are_of_any_type) {
  run([this] {
    const auto p = make_on<counted>(nodes() - 1, 3);
    EXPECT_EQ(counted::alive, 1);
    p.update([](counted& c) { c.values.push_back(4); });
    EXPECT_EQ(p.update([](counted& c) { return c.values[0] + c.values[1]; }), 7);
    p.free();
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST_P(containers_pointer, exceptions_arrive_and_release_the_object) {
  run([this] {
    EXPECT_THROW(make_on<counted>(nodes() - 1, -1), shoal::remote_error);
    const auto p = make_on<int>(nodes() - 1, 1);
    EXPECT_THROW(p.update([](int&) { throw std::runtime_error("no"); }), shoal::remote_error);
    EXPECT_EQ(p.get(), 1);
    p.free();
  });
}

}  // namespace

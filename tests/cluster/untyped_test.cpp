// SPDX-License-Identifier: Apache-2.0
// Each verb on each element type, by id with run-time types, beside the same access through the templates.
#include "array/untyped_access.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/cluster/cluster.hpp"

namespace {

using namespace shoal::detail;  // verbs and elements
using shoal::global_array;
using shoal::array::k_bytes_only;
using shoal::array::refusal;
using shoal::array::untyped_access;

class untyped : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(untyped);

constexpr std::uint64_t k_size = 13;  // does not divide by the numbers of nodes

template <class T>
std::vector<T> values_of() {
  using limits = std::numeric_limits<T>;
  return {T{0}, T{1}, T{7}, static_cast<T>(-1), limits::lowest(), limits::max(), static_cast<T>(limits::max() / 2)};
}

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// One access by the template on `a` and the same by id on `b`; both hold the same before.
template <verb V, class T>
void compare_run(const shoal::array_ref<T>& a, const shoal::array_ref<T>& b, std::uint64_t i, T value, T desired) {
  const T expected = run_access<V, T>(a.layout(), i, value, desired);
  T got{};
  const untyped_access access{V, element_of<T>(), b.id(), i, &value, &desired, &got};
  ASSERT_EQ(shoal::array::run_access(access), refusal::none);
  if (is_fetch(V)) {
    EXPECT_TRUE(same(expected, got)) << "verb " << static_cast<int>(V);
  }
  EXPECT_TRUE(same(a.get(i), b.get(i))) << "verb " << static_cast<int>(V);
}

template <verb V, class T>
void compare_begin(const shoal::array_ref<T>& a, const shoal::array_ref<T>& b, T value, T desired) {
  std::array<T, k_size> expected{};
  std::array<T, k_size> got{};
  for (std::uint64_t i = 0; i < k_size; ++i) {
    begin_access<V, T>(a.layout(), i, value, &expected[i], desired);
    const untyped_access access{V, element_of<T>(), b.id(), i, &value, &desired, &got[i]};
    ASSERT_EQ(shoal::array::begin_access(access), refusal::none);
  }
  shoal::wait();
  for (std::uint64_t i = 0; i < k_size; ++i) {
    if (is_fetch(V)) {
      EXPECT_TRUE(same(expected[i], got[i])) << "verb " << static_cast<int>(V);
    }
    EXPECT_TRUE(same(a.get(i), b.get(i))) << "verb " << static_cast<int>(V);
  }
}

template <verb V, class T>
void compare_verb(const shoal::array_ref<T>& a, const shoal::array_ref<T>& b) {
  if constexpr (k_has_verb<V, T>) {
    const auto values = values_of<T>();
    for (const T before : values)
      for (std::size_t k = 0; k < values.size(); ++k) {
        const std::uint64_t i = k % k_size;
        a.put(i, before);
        b.put(i, before);
        compare_run<V, T>(a, b, i, values[k], values[(k + 1) % values.size()]);
      }
    for (const T value : values) {
      a.fill(T{1});
      b.fill(T{1});
      compare_begin<V, T>(a, b, value, T{3});
    }
  } else {
    T value{};
    untyped_access access{V, element_of<T>(), b.id(), 0, &value, &value, &value};
    EXPECT_EQ(shoal::array::run_access(access), refusal::no_such_verb);
    EXPECT_EQ(shoal::array::begin_access(access), refusal::no_such_verb);
  }
}

template <class T>
void compare_type() {
  const global_array<T> a(k_size);
  const global_array<T> b(k_size, shoal::distribution::cyclic);
  [&]<std::size_t... V>(std::index_sequence<V...>) { (compare_verb<static_cast<verb>(V), T>(a, b), ...); }
  (std::make_index_sequence<static_cast<std::size_t>(verb::count)>{});
}

TEST_P(untyped, verbs_on_integers_do_what_the_templates_do) {
  run([] {
    compare_type<std::uint8_t>();
    compare_type<std::uint16_t>();
    compare_type<std::uint32_t>();
    compare_type<std::uint64_t>();
    compare_type<std::int8_t>();
    compare_type<std::int16_t>();
    compare_type<std::int32_t>();
    compare_type<std::int64_t>();
  });
}

TEST_P(untyped, verbs_on_fractions_do_what_the_templates_do) {
  run([] {
    compare_type<float>();
    compare_type<double>();
  });
}

struct triple {
  std::array<std::uint32_t, 3> v;
};

TEST_P(untyped, elements_of_bytes_are_put_and_got) {
  run([] {
    const global_array<triple> a(k_size, shoal::distribution::cyclic);
    const global_array<std::array<char, 8>> words(k_size);
    for (std::uint32_t i = 0; i < k_size; ++i) {
      const triple t{{i, i + 1, i + 2}};
      const std::uint64_t w = i * 1000;
      ASSERT_EQ(shoal::array::run_access({verb::put, k_bytes_only, a->id(), i, &t, nullptr, nullptr}), refusal::none);
      ASSERT_EQ(shoal::array::begin_access({verb::put, k_bytes_only, words->id(), i, &w, nullptr, nullptr}),
                refusal::none);
    }
    shoal::wait();
    std::array<triple, k_size> later{};
    for (std::uint32_t i = 0; i < k_size; ++i) {
      ASSERT_EQ(shoal::array::begin_access({verb::get, k_bytes_only, a->id(), i, nullptr, nullptr, &later[i]}),
                refusal::none);
      std::uint64_t w = 0;
      ASSERT_EQ(shoal::array::run_access({verb::get, k_bytes_only, words->id(), i, nullptr, nullptr, &w}),
                refusal::none);
      EXPECT_EQ(w, i * 1000U);
      // A type of the same size has all its verbs.
      const std::uint64_t one = 1;
      ASSERT_EQ(shoal::array::run_access({verb::fetch_add, element::u64, words->id(), i, &one, nullptr, &w}),
                refusal::none);
      EXPECT_EQ(w, i * 1000U);
      ASSERT_EQ(shoal::array::run_access({verb::get, element::u64, words->id(), i, nullptr, nullptr, &w}),
                refusal::none);
      EXPECT_EQ(w, i * 1000U + 1);
    }
    shoal::wait();
    for (std::uint32_t i = 0; i < k_size; ++i) EXPECT_EQ(later[i].v[2], i + 2);
  });
}

TEST_P(untyped, ranges_are_copied_and_filled) {
  run([] {
    constexpr std::uint64_t k_many = 5000;
    const global_array<std::uint32_t> a(k_many);
    const global_array<std::uint32_t> b(k_many, shoal::distribution::cyclic);
    std::vector<std::uint32_t> values(k_many);
    std::iota(values.begin(), values.end(), 1U);
    ASSERT_EQ(shoal::array::run_put(a->id(), 0, k_many, values.data()), refusal::none);
    ASSERT_EQ(shoal::array::copy(b->id(), 100, a->id(), 50, k_many - 100), refusal::none);
    std::vector<std::uint32_t> got(k_many);
    ASSERT_EQ(shoal::array::run_get(b->id(), 0, k_many, got.data()), refusal::none);
    EXPECT_EQ(got[99], 0U);
    for (std::uint64_t i = 0; i < k_many - 100; ++i) ASSERT_EQ(got[100 + i], values[50 + i]);
    const std::uint32_t seven = 7;
    ASSERT_EQ(shoal::array::fill(b->id(), &seven), refusal::none);
    ASSERT_EQ(shoal::array::begin_put(b->id(), 10, 3, values.data()), refusal::none);
    shoal::wait();
    ASSERT_EQ(shoal::array::begin_get(b->id(), 9, 5, got.data()), refusal::none);
    shoal::wait();
    EXPECT_EQ((std::vector<std::uint32_t>(got.begin(), got.begin() + 5)), (std::vector<std::uint32_t>{7, 1, 2, 3, 7}));
  });
}

TEST_P(untyped, misuse_is_refused_and_has_no_effect) {
  run([] {
    std::uint64_t freed = 0;
    {
      const global_array<std::uint64_t> gone(k_size);
      freed = gone->id();
    }
    const global_array<std::uint64_t> a(k_size);
    const global_array<triple> bytes(k_size);
    std::uint64_t value = 5;
    const auto both = [](const untyped_access& access) {
      const refusal r = shoal::array::run_access(access);
      EXPECT_EQ(shoal::array::begin_access(access), r);
      return r;
    };
    EXPECT_EQ(both({verb::put, element::u64, 0, 0, &value}), refusal::no_array);
    EXPECT_EQ(both({verb::put, element::u64, freed, 0, &value}), refusal::no_array);
    EXPECT_EQ(both({verb::put, element::u64, a->id(), k_size, &value}), refusal::out_of_range);
    EXPECT_EQ(both({verb::put, element::u64, a->id(), ~std::uint64_t{0}, &value}), refusal::out_of_range);
    EXPECT_EQ(both({verb::put, element::i64, a->id(), 0, &value}), refusal::wrong_type);
    EXPECT_EQ(both({verb::put, element::u64, bytes->id(), 0, &value}), refusal::wrong_type);
    EXPECT_EQ(both({verb::add, k_bytes_only, a->id(), 0, &value}), refusal::no_such_verb);
    EXPECT_EQ(both({verb::count, element::u64, a->id(), 0, &value}), refusal::no_such_verb);
    EXPECT_EQ(both({verb::add, element::u64, a->id(), 0}), refusal::no_operand);
    EXPECT_EQ(both({verb::fetch_add, element::u64, a->id(), 0, &value}), refusal::no_operand);
    EXPECT_EQ(both({verb::get, element::u64, a->id(), 0}), refusal::no_operand);
    EXPECT_EQ(both({verb::compare_exchange, element::u64, a->id(), 0, &value, nullptr, &value}), refusal::no_operand);
    alignas(8) std::array<char, 24> room{};
    EXPECT_EQ(shoal::array::begin_access({verb::get, element::u64, a->id(), 0, nullptr, nullptr, &room[1]}),
              refusal::unaligned);
    EXPECT_EQ(shoal::array::run_get(a->id(), 0, 1, &room[1]), refusal::unaligned);
    EXPECT_EQ(shoal::array::run_get(a->id(), 0, 1, nullptr), refusal::no_operand);
    EXPECT_EQ(shoal::array::run_get(a->id(), 1, k_size, room.data()), refusal::out_of_range);
    EXPECT_EQ(shoal::array::run_put(a->id(), k_size + 1, 0, room.data()), refusal::out_of_range);
    EXPECT_EQ(shoal::array::run_put(freed, 0, 1, room.data()), refusal::no_array);
    EXPECT_EQ(shoal::array::copy(a->id(), 0, bytes->id(), 0, 1), refusal::wrong_type);
    EXPECT_EQ(shoal::array::copy(a->id(), 0, freed, 0, 1), refusal::no_array);
    EXPECT_EQ(shoal::array::copy(a->id(), 1, a->id(), 0, k_size), refusal::out_of_range);
    EXPECT_EQ(shoal::array::fill(freed, &value), refusal::no_array);
    EXPECT_EQ(shoal::array::fill(a->id(), nullptr), refusal::no_operand);
    for (std::uint64_t i = 0; i < k_size; ++i) EXPECT_EQ(a->get(i), 0U);
  });
}

TEST_P(untyped, ids_name_the_array_on_every_node) {
  run([this] {
    const global_array<std::uint64_t> a(nodes(), shoal::distribution::cyclic);
    const std::uint64_t id = a->id();
    for (unsigned n = 0; n < nodes(); ++n)
      shoal::on(n, [id, n] {
        const std::uint64_t value = n + 100;
        if (shoal::array::run_access({verb::put, element::u64, id, n, &value}) != refusal::none)
          throw std::runtime_error("refused");
      });
    for (unsigned n = 0; n < nodes(); ++n) EXPECT_EQ(a->get(n), n + 100U);
  });
}

}  // namespace

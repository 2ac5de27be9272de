// SPDX-License-Identifier: Apache-2.0
// Misuse that checked builds detect: captured pointers into this process, indices out of range, arrays after their end,
// waits under a lock that blocks threads. Correct programs pass in every build.
#include <memory>
#include <string>
#include <vector>

#include "shoal/global_matrix.hpp"
#include "shoal/histogram.hpp"
#include "shoal/permute.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

class checked : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(checked);

TEST_P(checked, what_is_right_passes) {
  run([this] {
    shoal::global_array<std::uint64_t> a(100);
    const double d = 1e300;
    const std::uint64_t large = ~std::uint64_t{0};
    const std::int64_t negative = -1;
    for (unsigned n = 0; n < nodes(); ++n)
      EXPECT_EQ(shoal::on(n,
                          [=, r = a.ref(), s = a->symmetric()] {
                            r.put(99, large);
                            return r.get(99) == large && d > 1 && negative < 0 && s.get() != nullptr;
                          }),
                true);
    shoal::parallel_for(shoal::everywhere, 100, [=, r = a.ref()](std::uint64_t i) { r.async_put(i, large); });
    std::uint64_t local = 0;
    shoal::parallel_for(shoal::here, 100, [&local](std::uint64_t) { std::atomic_ref(local).fetch_add(1); });
    EXPECT_EQ(local, 100U);
  });
}

#ifdef SHOAL_CHECKED
using checked_death = checked;
INSTANTIATE_TEST_SUITE_P(shapes, checked_death,
                         testing::Values(shoal::test::job_shape{2, 1, false}, shoal::test::job_shape{2, 2, true}),
                         shoal::test::name_of);

TEST_P(checked_death, a_captured_pointer_is_rejected) {
  EXPECT_DEATH(run([] {
                 auto owned = std::make_unique<int>(3);
                 shoal::on(1, [p = owned.get()] { return p != nullptr; });
               }),
               "captures a pointer into the heap");
  EXPECT_DEATH(run([] {
                 int local = 3;
                 shoal::on(1, [&local] { return local; });
               }),
               "captures a pointer into a stack");
  EXPECT_DEATH(run([] {
                 static int global = 3;
                 shoal::on(1, [p = &global] { return *p; });
               }),
               "captures a pointer into the program's image");
  EXPECT_DEATH(run([] {
                 int local = 3;
                 shoal::parallel_for(shoal::everywhere, 10, [&local](std::uint64_t) { static_cast<void>(local); });
               }),
               "captures a pointer");
  EXPECT_DEATH(run([] {
                 int local = 3;
                 shoal::spmd([&local](shoal::team&) { static_cast<void>(local); });
               }),
               "captures a pointer");
  EXPECT_DEATH(run([] {
                 std::uint64_t local = 3;
                 shoal::parallel_reduce(
                     shoal::everywhere, 10, std::uint64_t{0}, [](std::uint64_t i) { return i; },
                     [&local](std::uint64_t x, std::uint64_t y) { return x + y + local; });
               }),
               "captures a pointer");
  EXPECT_DEATH(run([] {
                 int local = 3;
                 shoal::async_at(1, [&local] { static_cast<void>(local); });
               }),
               "captures a pointer");
  // From a task on a stack of the pool.
  EXPECT_DEATH(run([] {
                 shoal::on(1, [] {
                   shoal::semaphore go(0);
                   shoal::task_group group;
                   group.run([&go] {
                     int local = 3;
                     go.release();
                     shoal::on(0, [&local] { return local; });
                   });
                   go.acquire();
                   group.wait();
                 });
               }),
               "captures a pointer");
}

TEST_P(checked_death, an_index_out_of_range_is_named) {
  EXPECT_DEATH(run([] {
                 shoal::global_array<std::uint64_t> a(100);
                 a->put(100, 1);
               }),
               "index 100 is out of the range of its global array of 100 elements");
  EXPECT_DEATH(run([] {
                 shoal::global_array<std::uint64_t> a(100);
                 a->async_add(~std::uint64_t{0}, 1);
               }),
               "index 18446744073709551615 is out of the range of its global array of 100 elements");
  EXPECT_DEATH(run([] {
                 shoal::global_array<std::uint64_t> a(100);
                 std::vector<std::uint64_t> values(10);
                 a->get(91, std::span(values));
               }),
               "10 elements from index 91 on are out of the range of their global array of 100 elements");
}

TEST_P(checked_death, elements_out_of_a_matrix_are_named) {
  EXPECT_DEATH(run([] {
                 const shoal::global_matrix<int> m(10, 20);
                 m->put(3, 20, 1);
               }),
               "out of the range of their global matrix");
  EXPECT_DEATH(run([] {
                 const shoal::global_matrix<int> m(10, 20);
                 std::vector<int> got(100);
                 m->get_block(5, 0, 6, 10, got.data(), 10);
               }),
               "out of the range of their global matrix");
}

TEST_P(checked_death, a_copy_out_of_either_range_is_named) {
  EXPECT_DEATH(run([] {
                 shoal::global_array<std::uint64_t> a(100), b(200);
                 b->copy(0, a, 50, 51);
               }),
               "51 elements from index 50 on are out of the range of their global array of 100 elements");
  EXPECT_DEATH(run([] {
                 shoal::global_array<std::uint64_t> a(100), b(200);
                 a->copy(50, b, 0, 51);
               }),
               "51 elements from index 50 on are out of the range of their global array of 100 elements");
}

TEST_P(checked_death, indices_and_buckets_of_algorithms_are_checked) {
  EXPECT_DEATH(run([] {
                 const shoal::global_array<std::uint32_t> a(100), b(100), places(100);
                 places->put(99, 100);
                 shoal::gather_into(a, b, places);
               }),
               "index 100 is out of the range of its global array of 100 elements");
  EXPECT_DEATH(run([] {
                 const shoal::global_array<std::uint32_t> a(100);
                 a->put(99, 7);
                 shoal::histogram(a, 7, [](std::uint32_t x) { return x; });
               }),
               "not below the number of buckets");
}

TEST_P(checked_death, a_wait_in_what_is_executed_in_place_is_refused) {
  for (const std::uint32_t node : {0U, 1U})
    EXPECT_DEATH(run([node] {
                   shoal::async_at(node, [] { shoal::yield(); });
                   shoal::wait();
                 }),
                 "a handler yields. It must not wait");
}

TEST_P(checked_death, an_array_used_after_its_end_is_named) {
  const auto use = [](auto&& access) {
    shoal::array_ref<std::uint64_t> kept;
    {
      shoal::global_array<std::uint64_t> a(100);
      kept = a;
    }
    access(kept);
  };
  EXPECT_DEATH(run([&] { use([](auto r) { r.put(3, 1); }); }), "used after it was freed");
  EXPECT_DEATH(run([&] { use([](auto r) { r.async_add(99, 1); }); }), "used after it was freed");
  EXPECT_DEATH(run([&] { use([](auto r) { shoal::on(1, [r] { return r.get(3); }); }); }), "used after it was freed");
  EXPECT_DEATH(run([&] {
                 use([](auto r) {
                   const std::vector<std::uint64_t> values(10);
                   r.put(0, std::span<const std::uint64_t>(values));
                 });
               }),
               "used after it was freed");
  EXPECT_DEATH(run([&] { use([](auto r) { r.fill(7); }); }), "used after it was freed");
}

TEST_P(checked_death, a_wait_under_a_lock_that_blocks_threads_is_refused) {
  EXPECT_DEATH(run([] {
                 const shoal::no_wait scope;
                 shoal::on(1, [] {});
               }),
               "no_wait scope");
}
#endif

}  // namespace

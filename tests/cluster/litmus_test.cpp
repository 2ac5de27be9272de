// SPDX-License-Identifier: Apache-2.0
// Runs the guarantees (order, atomicity, tearing) on all shapes of jobs.
#include "tests/cluster/litmus.hpp"

#include "tests/cluster/cluster.hpp"

namespace {

namespace litmus = shoal::test::litmus;
using litmus::data_by;
using litmus::flag_by;

class promises : public shoal::test::cluster {};
SHOAL_CLUSTER_TESTS(promises);

TEST_P(promises, who_sees_the_flag_sees_the_data) {
  run([this] {
    const std::uint32_t last = nodes() - 1;
    const std::uint32_t middle = nodes() / 2;
    const auto play = [](const litmus::flag_case& c, std::uint64_t rounds) {
      EXPECT_EQ(litmus::flag_and_data(c, rounds), 0U)
          << "flag by " << static_cast<int>(c.flag) << " on node " << c.flag_node << ", data by "
          << static_cast<int>(c.data) << " on node " << c.data_node << ", " << c.writer << " to " << c.reader;
    };
    unsigned turn = 0;
    for (const auto flag : {flag_by::put, flag_by::add, flag_by::exchange, flag_by::compare_exchange})
      for (const auto data :
           {data_by::put, data_by::add, data_by::async_put, data_by::bulk_put, data_by::async_bulk_put})
        play(++turn % 2 == 0 ? litmus::flag_case{flag, data, 0, last, middle, last}
                             : litmus::flag_case{flag, data, last, middle, 0, middle},
             100);
    for (const std::uint32_t data_node : {0U, last})
      for (const std::uint32_t flag_node : {0U, last}) {
        play({flag_by::put, data_by::put, 0, last, data_node, flag_node}, 1000);
        play({flag_by::add, data_by::bulk_put, last, 0, data_node, flag_node}, 1000);
      }
  });
}

TEST_P(promises, who_hears_of_a_flag_from_another_sees_the_data) {
  run([] { EXPECT_EQ(litmus::told_by_another(1000), 0U); });
}

TEST_P(promises, two_tasks_never_both_miss_the_other_s_put) {
  run([this] {
    const std::uint32_t last = nodes() - 1;
    for (const bool bulk : {false, true})
      for (const std::uint32_t x : {0U, last})
        for (const std::uint32_t y : {0U, last})
          EXPECT_EQ(litmus::store_buffering(x, y, bulk, 4000), 0U)
              << "x on " << x << ", y on " << y << " bulk " << bulk;
  });
}

TEST_P(promises, modifications_are_atomic_whoever_makes_them) {
  run([] {
    EXPECT_EQ(litmus::distinct_tickets(3000), 0U);
    EXPECT_EQ(litmus::exchanged_once(4000), 0U);
    EXPECT_EQ(litmus::small_neighbours<std::uint8_t>(200), 0U);
    EXPECT_EQ(litmus::small_neighbours<std::int16_t>(2000), 0U);
    EXPECT_EQ(litmus::small_neighbours<std::uint32_t>(2000), 0U);
    EXPECT_EQ(litmus::small_neighbours<float>(2000), 0U);
    EXPECT_EQ(litmus::small_neighbours<double>(2000), 0U);
  });
}

TEST_P(promises, no_put_is_lost_beside_additions_of_the_owner) {
  auto c = config();
  c.one_sided_bytes = 64;
  // Memory that the processes and threads of a machine share: UCX writes to it without the owner's help.
  c.network_memory = c.transport == "ucx" && !c.direct;
  c.segment_bytes = 16 << 20;
  shoal::runtime::run_in_process(c, [] {
    EXPECT_EQ(litmus::puts_beside_additions(0.3), 0U);
    return 0;
  });
}

TEST_P(promises, aligned_elements_do_not_tear) {
  run([] {
    EXPECT_EQ((litmus::tears<std::uint64_t, std::uint32_t>(1000)), 0U);
    EXPECT_EQ((litmus::tears<std::uint32_t, std::uint16_t>(1000)), 0U);
    EXPECT_EQ((litmus::tears<std::uint16_t, std::uint8_t>(1000)), 0U);
  });
}

}  // namespace

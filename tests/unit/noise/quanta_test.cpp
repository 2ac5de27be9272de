// SPDX-License-Identifier: Apache-2.0
#include "noise/quanta.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "machine/topology.hpp"
#include "machine/tracepoints.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

quanta_request short_quanta() {
  quanta_request r;
  r.processor = machine::topology::discover().processors().front().pu;
  r.quantum_ns = 200'000;
  r.quanta = 50;
  r.most_detours = 1000;
  return r;
}

TEST(quanta, fixed_time_has_a_figure_for_each_quantum) {
  const std::uint64_t before = machine::kernel_clock_ns();
  const quanta_result q = measure_fixed_time(short_quanta());
  ASSERT_EQ(q.noise_ns.size(), 50U);
  ASSERT_EQ(q.quantum_begin_ns.size(), 51U);
  EXPECT_GT(q.operation_ns, 0);
  // The best one, without what its detours took, defines the rest.
  EXPECT_GE(std::ranges::min(q.noise_ns), 0);
  for (const double n : q.noise_ns) EXPECT_LE(n, 200'000 * 1.01);
  EXPECT_NEAR(static_cast<double>(q.measured_ns()), 50 * 200'000.0, 50 * 200'000 * 0.02);
  EXPECT_GT(q.begin_ns, before);
  EXPECT_LT(q.quantum_begin_ns.back(), machine::kernel_clock_ns() + 1'000'000);
  for (const detour& d : q.detours) {
    EXPECT_GE(d.end_ns - d.begin_ns, 490U);
    EXPECT_GE(d.end_ns, q.begin_ns);
  }
}

TEST(quanta, fixed_work_has_the_rest_of_each) {
  const quanta_result q = measure_fixed_work(short_quanta());
  ASSERT_EQ(q.noise_ns.size(), 50U);
  // The fastest has lost nothing but what its detours took; beside other programs each may have some.
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 50; ++i) {
    double rest = q.noise_ns[i];
    for (const detour& d : q.detours) {
      const std::uint64_t begin = std::max(d.begin_ns, q.quantum_begin_ns[i]);
      const std::uint64_t end = std::min(d.end_ns, q.quantum_begin_ns[i + 1]);
      if (end > begin) rest -= static_cast<double>(end - begin);
    }
    EXPECT_GE(rest, -1) << i;
    least = std::min(least, rest);
  }
  EXPECT_NEAR(least, 0, 1);
  EXPECT_GT(q.quantum_ns, 0U);
}

TEST(quanta, the_one_that_runs_is_the_last_when_it_is_stopped) {
  std::atomic<bool> stop = true;
  quanta_request r = short_quanta();
  r.stop = &stop;
  for (const auto measure : {measure_fixed_time, measure_fixed_work}) {
    const quanta_result q = measure(r);
    EXPECT_EQ(q.noise_ns.size(), 1U);
    EXPECT_EQ(q.quantum_begin_ns.size(), 2U);
    EXPECT_GT(q.measured_ns(), 0U);
  }
}

TEST(quanta, detours_beyond_the_room_are_counted) {
  quanta_request r = short_quanta();
  r.detour_ns = 1;  // each look at the clock
  r.most_detours = 10;
  const quanta_result q = measure_fixed_time(r);
  EXPECT_EQ(q.detours.size(), 10U);
  EXPECT_GT(q.detours_left_out, 1000U);
}

TEST(quanta, a_processor_that_is_not_there_is_refused) {
  quanta_request r = short_quanta();
  r.processor = 100'000;
  EXPECT_THROW(measure_fixed_time(r), error);
}

TEST(quanta, a_line_between_the_clocks) {
  const clock_line line({1000, 50'000}, {3000, 51'000});
  EXPECT_EQ(line.ns(1000), 50'000U);
  EXPECT_EQ(line.ns(2000), 50'500U);
  EXPECT_EQ(line.ns(500), 49'750U);
  EXPECT_DOUBLE_EQ(line.ns_per_tick(), 0.5);
}

// Four quanta of 1000 ns; a look takes 10 ns. A detour begins in the third one and ends after the last.
quanta_result by_hand(std::vector<detour> detours) {
  quanta_result r;
  r.quantum_begin_ns = {0, 1000, 2000, 3000, 4000};
  r.detours = std::move(detours);
  return r;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

TEST(quanta, a_detour_counts_up_to_the_end_of_the_last_quantum) {
  quanta_result r = by_hand({{2500, 9000}, {9010, 9900}});
  judge_looks(r, {100, 100, 51, 1});
  EXPECT_DOUBLE_EQ(r.operation_ns, 10);
  ASSERT_EQ(r.detours.size(), 1U);
  EXPECT_EQ(r.detours[0].end_ns, 4000U);
  EXPECT_EQ(r.noise_ns, (std::vector<double>{0, 0, 500, 1000}));
}

// The measure is not the fullest quantum: that one was interrupted, too.
TEST(quanta, what_detours_took_is_lost_when_each_quantum_was_interrupted) {
  quanta_result r = by_hand({{100, 600}, {1100, 1700}, {2000, 2900}, {3500, 4100}});
  judge_looks(r, {51, 41, 11, 51});
  EXPECT_DOUBLE_EQ(r.operation_ns, 10);
  EXPECT_DOUBLE_EQ(sum_of(r.noise_ns), 500 + 600 + 900 + 500);
  quanta_result work = by_hand({{100, 600}, {1100, 1700}, {2000, 2500}, {3400, 4000}});
  judge_times(work, 40);
  EXPECT_DOUBLE_EQ(work.operation_ns, 10);
  EXPECT_DOUBLE_EQ(sum_of(work.noise_ns), 600 * 4);
}

}  // namespace
}  // namespace shoal::noise

// SPDX-License-Identifier: Apache-2.0
#include "noise/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/counted.hpp"
#include "noise/advice.hpp"
#include "noise/text.hpp"

namespace shoal::noise {
namespace {

interruption one(std::uint64_t begin, activity what, std::uint64_t ns, std::uint32_t detail = 0) {
  interruption i;
  i.thread = 1;
  i.begin_ns = begin;
  i.end_ns = begin + ns;
  i.parts = {{what, detail, begin, ns}};
  return i;
}

TEST(summary, rows_have_number_average_and_percentile) {
  std::vector<interruption> all;
  for (std::uint64_t k = 1; k <= 100; ++k) all.push_back(one(k * 1000, activity::timer_interrupt, k));
  all.push_back(one(500'000, activity::preemption, 10'000, 3));
  const auto rows = event_rows(all);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].what, activity::preemption);
  EXPECT_EQ(rows[0].detail, 3U);
  EXPECT_EQ(rows[1].total_ns(), 5050U);
  EXPECT_DOUBLE_EQ(rows[1].average_ns(), 50.5);
  EXPECT_EQ(rows[1].p99_ns(), 99U);
}

TEST(summary, a_part_over_the_end_of_a_quantum_is_divided) {
  quanta_result q;
  q.thread = 1;
  q.quantum_begin_ns = {0, 1000, 2000, 3000};
  q.noise_ns = {0, 0, 0};
  const auto series = synthetic_series(std::vector{one(900, activity::preemption, 1300)}, q);
  const auto c = static_cast<std::size_t>(noise_class::preemption);
  EXPECT_DOUBLE_EQ(series[0][c], 100);
  EXPECT_DOUBLE_EQ(series[1][c], 1000);
  EXPECT_DOUBLE_EQ(series[2][c], 200);
}

TEST(summary, detours_without_an_event_are_unattributed) {
  quanta_result q;
  q.thread = 1;
  q.detours = {{1000, 4000}, {10'000, 12'000}};
  const auto detours = explain(q, std::vector{one(1500, activity::timer_interrupt, 2000)});
  ASSERT_EQ(detours.size(), 2U);
  EXPECT_EQ(detours[0].kernel_ns, 2000U);
  EXPECT_TRUE(detours[1].parts.empty());
  const explanation e = explained_share(detours);
  EXPECT_DOUBLE_EQ(e.detours_ns, 5000);
  EXPECT_DOUBLE_EQ(e.events_ns, 2000);
  EXPECT_DOUBLE_EQ(e.edges_ns, 1000);
  EXPECT_DOUBLE_EQ(e.nothing_ns, 2000);
}

TEST(summary, what_was_lost_has_three_parts) {
  quanta_result q;
  q.thread = 1;
  q.quantum_begin_ns = {0, 10'000, 20'000};
  q.noise_ns = {3500, 2500};
  q.detours = {{1000, 4000}, {10'000, 12'000}};
  const lost_shares s = shares_of(q, std::vector{one(1500, activity::timer_interrupt, 2000)});
  EXPECT_DOUBLE_EQ(s.lost, 0.3);
  EXPECT_DOUBLE_EQ(s.kernel, 0.15);
  EXPECT_DOUBLE_EQ(s.unattributed, 0.1);
  EXPECT_DOUBLE_EQ(s.slower, 0.05);
  q.quantum_begin_ns = {5};  // nothing was measured
  EXPECT_EQ(shares_of(q, {}).lost, 0);
}

// The threads do not begin and end at the same time; all tables have the same whole.
TEST(summary, what_happens_outside_of_a_threads_quanta_is_left_out) {
  measurement m;
  m.has_events = true;
  m.marks = 1000;
  m.recorded_ns = 2e6;
  m.series.resize(1);
  m.series[0].thread = 1;
  m.series[0].quantum_begin_ns = {1000, 2000, 3000};
  m.series[0].noise_ns = {0, 0};
  m.record.threads[1].running_ns = 100'000;
  m.record.interruptions = {one(500, activity::preemption, 100), one(900, activity::preemption, 200),
                            one(2500, activity::preemption, 900), one(3000, activity::preemption, 5000)};
  keep_measured(m.record, m.series);
  EXPECT_EQ(m.record.runnable_ns(), 2000U);
  ASSERT_EQ(m.record.interruptions.size(), 2U);
  EXPECT_DOUBLE_EQ(times_by_class(m.record.interruptions)[static_cast<std::size_t>(noise_class::preemption)], 600);
  const std::string text = noise_text(m);
  const std::size_t first = text.find("30.0000%");  // of the class
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("30.0000%", first + 1), std::string::npos) << text;  // of the event
  EXPECT_DOUBLE_EQ(advise(m).front().share, 0.3);
}

TEST(summary, recording_is_a_share_of_the_processors_time) {
  measurement m;
  m.has_events = true;
  m.record.threads[1].running_ns = 1000;  // the program has done little, the machine much
  m.marks = 1000;
  m.recorded_ns = 4e6;
  m.mark_ns = 100;
  EXPECT_NE(noise_text(m).find("recording took 2.5000 %"), std::string::npos) << noise_text(m);
  m.mark_ns = 0;
  EXPECT_NE(noise_text(m).find("could not be measured"), std::string::npos) << noise_text(m);
}

TEST(summary, the_spectrum_of_a_tick_has_its_frequency) {
  constexpr double k_quantum_ns = 1e6;
  std::vector<double> series(4096);
  for (std::size_t i = 0; i < series.size(); ++i)
    series[i] = 1000 * (1 + std::cos(2 * std::numbers::pi * static_cast<double>(i) / 8));  // 125 Hz
  const spectrum s = spectrum_of(series, k_quantum_ns);
  ASSERT_EQ(s.power.size(), 1025U);
  const auto most = static_cast<double>(std::max_element(s.power.begin(), s.power.end()) - s.power.begin());
  EXPECT_NEAR(most * s.step_hz, 125, s.step_hz);
  EXPECT_TRUE(spectrum_of({1, 2, 3}, k_quantum_ns).power.empty());
}

TEST(summary, advice_names_what_takes_most) {
  measurement m;
  m.has_events = true;
  m.record.threads[1].running_ns = 1'000'000;
  m.record.interruptions = {one(0, activity::preemption, 90'000, m.words.number_of("backup")),
                            one(200'000, activity::timer_interrupt, 1'000), one(300'000, activity::rcu_softirq, 10)};
  const auto advised = advise(m);
  ASSERT_EQ(advised.size(), 2U);  // the last is less than a ten-thousandth
  EXPECT_NE(advised[0].text.find("backup"), std::string::npos);
  EXPECT_DOUBLE_EQ(advised[0].share, 0.09);
  EXPECT_NE(advised[1].text.find("nohz_full"), std::string::npos);
}

TEST(summary, words) {
  EXPECT_EQ(base::described_ns(750), "750 ns");
  EXPECT_EQ(base::described_ns(2178), "2.18 us");
  EXPECT_EQ(base::described_ns(4e6), "4.00 ms");
  word_table words;
  const std::uint32_t disk = words.number_of("disk");
  EXPECT_EQ(words.number_of("disk"), disk);
  EXPECT_EQ(describe(activity::device_interrupt, disk, words), "device interrupt (disk)");
  EXPECT_EQ(describe({}, words), "no event of the kernel");
}

}  // namespace
}  // namespace shoal::noise

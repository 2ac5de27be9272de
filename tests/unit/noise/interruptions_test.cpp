// SPDX-License-Identifier: Apache-2.0
#include "noise/interruptions.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "noise/summary.hpp"

namespace shoal::noise {
namespace {

using kind = kernel_mark::kind;

constexpr std::int32_t k_me = 100;
constexpr std::int32_t k_other = 200;

kernel_mark mark(std::uint64_t ns, kind is, activity what, std::int32_t thread = k_me) {
  kernel_mark m;
  m.time_ns = ns;
  m.is = is;
  m.what = what;
  m.thread = thread;
  return m;
}
kernel_mark enter(std::uint64_t ns, activity what, std::int32_t thread = k_me) {
  return mark(ns, kind::enter, what, thread);
}
kernel_mark leave(std::uint64_t ns, activity what, std::int32_t thread = k_me) {
  return mark(ns, kind::leave, what, thread);
}
kernel_mark switched(std::uint64_t ns, std::int32_t from, std::int32_t to, bool runnable, std::uint16_t processor = 0) {
  kernel_mark m = mark(ns, kind::switched, activity::preemption, from);
  m.other = to;
  m.runnable = runnable;
  m.processor = processor;
  return m;
}

noise_record find(const std::vector<kernel_mark>& marks, std::uint64_t fault_ns = 0) {
  noise_question q;
  q.threads = {k_me};
  q.begin_ns = 0;
  q.end_ns = 1'000'000;
  q.running = true;
  q.fault_ns = fault_ns;
  return find_interruptions(marks, q);
}

TEST(interruptions, a_nested_event_is_counted_once) {
  const noise_record r = find({enter(1000, activity::timer_softirq), enter(1200, activity::device_interrupt),
                               leave(1500, activity::device_interrupt), leave(2000, activity::timer_softirq)});
  ASSERT_EQ(r.interruptions.size(), 1U);
  const interruption& i = r.interruptions.front();
  EXPECT_EQ(i.begin_ns, 1000U);
  EXPECT_EQ(i.end_ns, 2000U);
  EXPECT_EQ(i.noise_ns(), 1000U);
  ASSERT_EQ(i.parts.size(), 2U);
  EXPECT_EQ(i.parts[0].what, activity::timer_softirq);
  EXPECT_EQ(i.parts[0].ns, 700U);
  EXPECT_EQ(i.parts[1].what, activity::device_interrupt);
  EXPECT_EQ(i.parts[1].ns, 300U);
  EXPECT_EQ(r.unmatched, 0U);
}

// The text's first case: two interruptions of about the same length, of which one is a page fault and the other a timer
// interrupt with its softirq.
TEST(interruptions, equal_lengths_with_different_causes_are_told_apart) {
  const noise_record r = find({enter(10'000, activity::page_fault), leave(12'913, activity::page_fault),
                               enter(50'000, activity::timer_interrupt), leave(52'648, activity::timer_interrupt),
                               enter(52'700, activity::timer_softirq), leave(52'954, activity::timer_softirq)});
  ASSERT_EQ(r.interruptions.size(), 2U);
  EXPECT_EQ(r.interruptions[0].noise_ns(), 2913U);
  ASSERT_EQ(r.interruptions[0].parts.size(), 1U);
  EXPECT_EQ(r.interruptions[0].parts[0].what, activity::page_fault);
  EXPECT_EQ(r.interruptions[1].noise_ns(), 2902U);
  ASSERT_EQ(r.interruptions[1].parts.size(), 2U);
  EXPECT_EQ(r.interruptions[1].parts[0].what, activity::timer_interrupt);
  EXPECT_EQ(r.interruptions[1].parts[1].what, activity::timer_softirq);
}

// The second case: a page fault right before a timer interrupt, in one quantum, are two interruptions.
TEST(interruptions, two_causes_in_one_quantum_are_two_interruptions) {
  const noise_record r = find({enter(10'000, activity::page_fault), leave(12'500, activity::page_fault),
                               enter(12'600, activity::timer_interrupt), leave(15'000, activity::timer_interrupt)});
  ASSERT_EQ(r.interruptions.size(), 2U);
  quanta_result q;
  q.thread = k_me;
  q.quantum_begin_ns = {0, 20'000};
  q.noise_ns = {4900};
  const auto series = synthetic_series(r.interruptions, q);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_DOUBLE_EQ(series[0][static_cast<std::size_t>(noise_class::page_fault)], 2500);
  EXPECT_DOUBLE_EQ(series[0][static_cast<std::size_t>(noise_class::periodic)], 2400);
}

TEST(interruptions, preemption_lasts_until_the_thread_is_back_and_names_who_ran) {
  std::vector<kernel_mark> marks = {enter(1000, activity::timer_interrupt), leave(3178, activity::timer_interrupt),
                                    switched(3560, k_me, k_other, true), switched(5775, k_other, k_me, false)};
  marks[2].detail = 7;
  marks[3].thread_detail = 7;
  const noise_record r = find(marks);
  ASSERT_EQ(r.interruptions.size(), 1U);
  ASSERT_EQ(r.interruptions[0].parts.size(), 3U);
  EXPECT_EQ(r.interruptions[0].parts[1].what, activity::schedule);
  EXPECT_EQ(r.interruptions[0].parts[1].ns, 382U);
  EXPECT_EQ(r.interruptions[0].parts[2].what, activity::preemption);
  EXPECT_EQ(r.interruptions[0].parts[2].ns, 2215U);
  EXPECT_EQ(r.interruptions[0].parts[2].detail, 7U);
  EXPECT_EQ(r.threads.at(k_me).waiting_ns, 2215U);
  EXPECT_EQ(r.threads.at(k_me).running_ns, 1'000'000U - 2215U);
}

TEST(interruptions, what_happens_to_others_while_the_thread_is_blocked_is_no_noise) {
  const noise_record r = find({switched(1000, k_me, k_other, false), enter(2000, activity::timer_interrupt, k_other),
                               leave(3000, activity::timer_interrupt, k_other), switched(9000, k_other, k_me, true)});
  EXPECT_TRUE(r.interruptions.empty());
  EXPECT_EQ(r.threads.at(k_me).running_ns, 1000U + 991'000U);
  EXPECT_EQ(r.threads.at(k_me).waiting_ns, 0U);
}

TEST(interruptions, a_woken_thread_waits_for_who_runs_or_for_an_idle_processor) {
  kernel_mark woken = mark(5000, kind::woken, activity::wake_delay, k_other);
  woken.other = k_me;
  const noise_record busy = find({switched(1000, k_me, k_other, false), woken, switched(9000, k_other, k_me, true)});
  ASSERT_EQ(busy.interruptions.size(), 1U);
  EXPECT_EQ(busy.interruptions[0].parts[0].what, activity::preemption);
  EXPECT_EQ(busy.interruptions[0].noise_ns(), 4000U);
  const noise_record idle = find({switched(1000, k_me, 0, false), woken, switched(9000, 0, k_me, true)});
  ASSERT_EQ(idle.interruptions.size(), 1U);
  EXPECT_EQ(idle.interruptions[0].parts[0].what, activity::wake_delay);
}

TEST(interruptions, threads_of_the_program_itself_are_named_as_such) {
  kernel_mark forked = mark(500, kind::forked, activity::preemption);
  forked.other = k_other;
  const noise_record r = find({forked, switched(1000, k_me, k_other, true), switched(4000, k_other, k_me, true)});
  ASSERT_FALSE(r.interruptions.empty());
  EXPECT_EQ(r.interruptions[0].parts[0].what, activity::own_thread);
  EXPECT_EQ(r.interruptions[0].parts[0].ns, 3000U);
  EXPECT_EQ(r.threads.at(k_other).running_ns, 3000U);
  EXPECT_EQ(r.threads.at(k_other).waiting_ns, 996'000U);
}

TEST(interruptions, a_thread_that_moves_waits_for_the_new_processor) {
  kernel_mark moved = mark(3000, kind::migrated, activity::preemption, k_other);
  moved.other = k_me;
  moved.place = 1;
  std::vector<kernel_mark> marks = {switched(500, 0, 300, false, 1), switched(1000, k_me, k_other, true), moved,
                                    switched(6000, 300, k_me, true, 1)};
  marks[0].detail = 9;
  marks[3].thread_detail = 9;
  const noise_record r = find(marks);
  EXPECT_EQ(r.migrations, 1U);
  ASSERT_EQ(r.interruptions.size(), 1U);
  ASSERT_EQ(r.interruptions[0].parts.size(), 2U);
  EXPECT_EQ(r.interruptions[0].parts[0].ns, 2000U);
  EXPECT_EQ(r.interruptions[0].parts[1].ns, 3000U);
  EXPECT_EQ(r.interruptions[0].parts[1].detail, 9U);
}

TEST(interruptions, lost_records_leave_no_event_without_end) {
  kernel_mark lost = mark(2000, kind::lost, activity::preemption);
  lost.count = 5;
  const noise_record r = find({enter(1000, activity::timer_interrupt), lost, leave(2500, activity::timer_interrupt),
                               enter(9000, activity::rcu_softirq), leave(9100, activity::rcu_softirq)});
  EXPECT_EQ(r.lost, 5U);
  EXPECT_EQ(r.unmatched, 2U);
  ASSERT_EQ(r.interruptions.size(), 1U);
  EXPECT_EQ(r.interruptions[0].noise_ns(), 100U);
}

TEST(interruptions, a_fault_without_an_end_takes_what_was_measured) {
  const noise_record r = find({mark(1000, kind::fault, activity::page_fault)}, 1500);
  ASSERT_EQ(r.interruptions.size(), 1U);
  EXPECT_EQ(r.interruptions[0].noise_ns(), 1500U);
}

TEST(interruptions, other_programs_interrupts_are_theirs) {
  const noise_record r = find({switched(100, k_me, k_other, true), enter(1000, activity::timer_interrupt, k_other),
                               leave(2000, activity::timer_interrupt, k_other), switched(3000, k_other, k_me, true)});
  ASSERT_EQ(r.interruptions.size(), 1U);
  EXPECT_EQ(r.interruptions[0].noise_ns(), 2900U);  // all of it is preemption, once
}

}  // namespace
}  // namespace shoal::noise

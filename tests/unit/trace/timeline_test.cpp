// SPDX-License-Identifier: Apache-2.0
// Traces made by hand, with known answers.
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trace/timeline_output.hpp"

namespace shoal::trace {
namespace {

// Ticks are nanoseconds here.
node_trace node(std::uint32_t number, const std::string& machine = "a", std::uint64_t raw = 1000,
                std::uint64_t world = 0) {
  node_trace t;
  t.form.node = number;
  t.form.nodes = 2;
  t.form.machine = machine;
  t.form.program = "program";
  t.begin = {0, raw, world};
  t.end = {10'000, raw + 10'000, world + 10'000};
  t.is_whole = true;
  t.workers.resize(1);
  t.left_out = {0};
  t.code = {{0x10, "first"}, {0x20, "second"}};
  t.names = {{1, "build"}};
  t.waits = {{9, "loop"}, {1, "mutex"}};
  return t;
}
event at(std::uint64_t ticks, event_kind kind, std::uint64_t value = 0, std::uint32_t number = 0,
         std::uint16_t small = 0) {
  return {ticks, kind, small, number, value};
}

TEST(timeline, a_task_that_waits_is_two_slices_and_a_wait) {
  node_trace n = node(0);
  n.workers[0] = {at(100, event_kind::task_begin, 0x10),     at(400, event_kind::task_wait, 0, 5, 9),
                  at(450, event_kind::task_begin, 0x20),     at(650, event_kind::task_end),
                  at(700, event_kind::task_resume, 0x10, 5), at(1000, event_kind::task_end),
                  at(1100, event_kind::state, 0, 0, 5)};
  const timeline t = make_timeline({n});
  ASSERT_EQ(t.tracks.size(), 1U);
  const track& one = t.tracks[0];
  EXPECT_EQ(one.tasks, 2U);
  std::vector<std::string> seen;
  for (const slice& s : one.slices)
    seen.push_back(std::to_string(s.begin_ns) + "-" + std::to_string(s.end_ns) + " " +
                   (s.what == activity::task ? t.words[s.name] : std::to_string(static_cast<int>(s.what))));
  EXPECT_EQ(seen, (std::vector<std::string>{"100-400 first", "400-450 1", "450-650 second", "650-700 1",
                                            "700-1000 first", "1000-1100 1", "1100-10000 4"}));
  ASSERT_EQ(one.waits.size(), 1U);
  EXPECT_EQ(one.waits[0].end_ns - one.waits[0].begin_ns, 300U);
  EXPECT_EQ(t.words[one.waits[0].why], "loop");
  EXPECT_EQ(t.words[one.waits[0].name], "first");
  const auto rows = task_rows(t);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].ns, 600U);
  EXPECT_EQ(rows[0].longest_ns, 300U);
  const timeline_times times = times_of(t);
  EXPECT_DOUBLE_EQ(times.ns[static_cast<std::size_t>(activity::task)], 800);
  EXPECT_DOUBLE_EQ(times.ns[static_cast<std::size_t>(activity::parked)], 8900);
}

TEST(timeline, a_task_has_the_name_that_it_is_given) {
  node_trace n = node(0);
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(110, event_kind::task_name, 0x20),
                  at(200, event_kind::task_end),         at(300, event_kind::task_begin, 0x10),
                  at(310, event_kind::task_name, 0),     at(400, event_kind::task_end)};
  const timeline t = make_timeline({n});
  EXPECT_EQ(t.words[t.tracks[0].slices[0].name], "second");
  EXPECT_EQ(t.words[t.tracks[0].slices[2].name], "the main task");
}

TEST(timeline, waits_for_the_same_lock_are_counted_together) {
  node_trace n = node(0);
  n.workers[0] = {at(100, event_kind::task_begin, 0x10),      at(200, event_kind::task_wait, 0xabc0, 5, 1),
                  at(210, event_kind::task_begin, 0x20),      at(300, event_kind::task_wait, 0xabc0, 6, 1),
                  at(500, event_kind::task_resume, 0x10, 5),  at(600, event_kind::task_wait, 0xdef0, 5, 1),
                  at(900, event_kind::task_resume, 0x20, 6),  at(1000, event_kind::task_end),
                  at(5600, event_kind::task_resume, 0x10, 5), at(5700, event_kind::task_wait, 0, 5, 9),
                  at(5800, event_kind::task_resume, 0x10, 5), at(5900, event_kind::task_end)};
  const timeline t = make_timeline({n});
  ASSERT_EQ(t.tracks[0].waits.size(), 4U);
  EXPECT_EQ(t.tracks[0].waits[0].lock, 0xabc0U);
  EXPECT_EQ(t.tracks[0].waits[3].lock, 0U);
  const std::string text = timeline_text(t);
  const auto longest = text.find("mutex 0xdef0 on node 0                                  1      5.00 us");
  const auto other = text.find("mutex 0xabc0 on node 0                                  2       900 ns       450 ns");
  EXPECT_NE(longest, std::string::npos) << text;
  EXPECT_NE(other, std::string::npos) << text;
  EXPECT_LT(longest, other);  // the one that has cost most comes first
}

TEST(timeline, a_sampled_stack_that_was_cut_says_so) {
  node_trace n = node(0);
  n.code[0x30] = "shoal::sched::worker::run";
  n.samples = {{{0x20, 0x10, 0x30}, 2, 2000}, {std::vector<std::uint64_t>(stack_sample::k_most_frames, 0x20), 1, 1000}};
  const timeline t = make_timeline({n});
  ASSERT_EQ(t.stacks.size(), 2U);
  for (const sampled_stack& s : t.stacks) {
    const bool is_cut = s.count == 1;
    EXPECT_EQ(t.words[s.names.front()], is_cut ? "functions not shown" : "first");
    EXPECT_EQ(s.names.size(), is_cut ? stack_sample::k_most_frames + 1 : 2);
  }
}

TEST(timeline, a_name_from_the_program_stays_over_waits) {
  node_trace n = node(0);
  n.names = {{1, "rank 3"}};
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(110, event_kind::task_label, 0, 1),
                  at(200, event_kind::task_wait, 0, 5, 9), at(300, event_kind::task_resume, 0x10, 5),
                  at(400, event_kind::task_end)};
  const timeline t = make_timeline({n});
  EXPECT_EQ(t.words[t.tracks[0].slices[1].name], "rank 3");
  EXPECT_EQ(t.tracks[0].slices[3].begin_ns, 300U);
  EXPECT_EQ(t.words[t.tracks[0].slices[3].name], "rank 3");
  EXPECT_EQ(t.words[t.tracks[0].waits[0].name], "rank 3");
}

TEST(timeline, a_name_from_the_program_stays_over_names_of_code) {
  node_trace n = node(0);
  n.names = {{1, "block 7"}};
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(110, event_kind::task_label, 0, 1),
                  at(150, event_kind::task_name, 0x20), at(200, event_kind::task_end)};
  const timeline t = make_timeline({n});
  EXPECT_EQ(t.words[t.tracks[0].slices[1].name], "block 7");
}

// The main task begins before the workers write events.
TEST(timeline, a_name_from_the_program_counts_where_the_begin_of_its_task_is_missing) {
  node_trace n = node(0);
  n.names = {{1, "alpha"}};
  n.workers[0] = {at(100, event_kind::task_label, 0, 1), at(200, event_kind::task_wait, 0, 5, 9),
                  at(300, event_kind::task_resume, 0, 5), at(400, event_kind::task_end)};
  const timeline t = make_timeline({n});
  std::vector<std::string> seen;
  for (const slice& s : t.tracks[0].slices)
    if (s.what == activity::task)
      seen.push_back(std::to_string(s.begin_ns) + "-" + std::to_string(s.end_ns) + " " + t.words[s.name]);
  EXPECT_EQ(seen, (std::vector<std::string>{"100-200 alpha", "300-400 alpha"}));
  EXPECT_EQ(t.words[t.tracks[0].waits[0].name], "alpha");
}

TEST(timeline, a_call_is_one_over_its_waits_and_belongs_to_its_task) {
  node_trace n = node(0);
  n.names = {{1, "rank 0"}, {2, "rank 1"}, {3, "MPI_Recv"}};
  n.workers[0] = {at(100, event_kind::task_begin, 0x10),
                  at(100, event_kind::task_label, 0, 1),
                  at(200, event_kind::call_begin, 0, 3),
                  at(250, event_kind::task_wait, 0, 5, 9),  // in the call
                  at(300, event_kind::task_begin, 0x10),
                  at(300, event_kind::task_label, 0, 2),
                  at(400, event_kind::call_begin, 0, 3),
                  at(410, event_kind::call_end),
                  at(500, event_kind::task_wait, 0, 6, 9),  // not in a call
                  at(600, event_kind::task_resume, 0x10, 5),
                  at(650, event_kind::call_end),
                  at(700, event_kind::task_end),
                  at(800, event_kind::call_end)};  // of nobody
  const timeline t = make_timeline({n});
  const track& one = t.tracks[0];
  std::vector<std::string> seen;
  for (const slice& s : one.slices)
    if (s.what == activity::task)
      seen.push_back(std::to_string(s.begin_ns) + "-" + std::to_string(s.end_ns) + " " + t.words[s.name] +
                     (s.call == 0 ? "" : " in " + t.words[s.call]));
  EXPECT_EQ(seen, (std::vector<std::string>{"100-200 rank 0", "200-250 rank 0 in MPI_Recv", "300-400 rank 1",
                                            "400-410 rank 1 in MPI_Recv", "410-500 rank 1",
                                            "600-650 rank 0 in MPI_Recv", "650-700 rank 0"}));
  ASSERT_EQ(one.calls.size(), 2U);
  EXPECT_EQ(t.words[one.calls[0].name], "rank 1");
  EXPECT_EQ(one.calls[1].end_ns - one.calls[1].begin_ns, 450U);
  EXPECT_EQ(t.words[one.waits[0].why], "MPI_Recv");
  EXPECT_EQ(t.words[one.waits[1].why], "loop");
  EXPECT_NE(timeline_text(t).find("MPI_Recv                              2       460 ns"), std::string::npos)
      << timeline_text(t);
  const auto json = nlohmann::json::parse(timeline_json(t));
  int calls = 0;
  for (const auto& e : json["traceEvents"])
    if (e.value("cat", "") == "call" && e["name"] == "MPI_Recv") ++calls;
  EXPECT_EQ(calls, 2);
}

TEST(timeline, code_without_a_name_is_one_on_all_nodes) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.images = {{0x5000, 0x1000, 0, 0, "/bin/program"}};
  b.images = {{0x9000, 0x1000, 0, 0, "/bin/program"}};
  a.workers[0] = {at(100, event_kind::task_begin, 0x5010), at(200, event_kind::task_end)};
  b.workers[0] = {at(100, event_kind::task_begin, 0x9010), at(200, event_kind::task_end)};
  const timeline t = make_timeline({a, b});
  const auto rows = task_rows(t);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(t.words[rows[0].name], "program+0x10");
}

TEST(timeline, replies_do_not_meet_requests) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.workers[0] = {at(1000, event_kind::send, message_value(64, 0), 1),
                  at(1300, event_kind::reply_receive, message_value(16, 0), 1, 0)};
  b.workers[0] = {at(1100, event_kind::receive, message_value(64, 0), 0, 0),
                  at(1150, event_kind::reply_send, message_value(16, 0), 0, 0),
                  at(1400, event_kind::send, message_value(8, 0), 0)};  // its receive is lost
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 2U);
  EXPECT_FALSE(t.messages[0].is_reply);
  EXPECT_EQ(t.messages[0].bytes, 64U);
  EXPECT_TRUE(t.messages[1].is_reply);
  EXPECT_EQ(t.messages[1].bytes, 16U);
  EXPECT_EQ(t.messages[1].received_ns - t.messages[1].sent_ns, 150U);
  EXPECT_EQ(t.unmatched_messages, 1U);
}

TEST(timeline, mail_is_joined_by_its_place_in_the_ring) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.workers[0] = {at(1000, event_kind::mail_send, message_value(64, 40), 1),
                  at(2000, event_kind::mail_send, message_value(72, 41), 1)};
  b.workers[0] = {at(1100, event_kind::mail_receive, message_value(64, 40), 0),
                  at(1200, event_kind::mail_receive, message_value(64, 7), 0)};  // its sender's event is lost
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 1U);
  EXPECT_EQ(t.messages[0].from, 0U);
  EXPECT_EQ(t.messages[0].to, 1U);
  EXPECT_EQ(t.messages[0].received_ns - t.messages[0].sent_ns, 100U);
  EXPECT_EQ(t.unmatched_messages, 2U);
}

TEST(timeline, a_trace_that_begins_in_the_middle_is_read) {
  node_trace n = node(0);
  n.workers[0] = {at(100, event_kind::task_end), at(150, event_kind::task_resume, 0x10, 77),
                  at(200, event_kind::task_wait, 0, 77, 9), at(250, event_kind::region_end, 0, 1)};
  n.is_whole = false;
  const timeline t = make_timeline({n});
  EXPECT_EQ(t.unfinished, (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(t.tracks[0].regions.empty());
  ASSERT_EQ(t.tracks[0].waits.size(), 1U);  // it has not ended
  EXPECT_EQ(t.tracks[0].waits[0].end_ns, 10'000U);
}

std::vector<std::string> described(const timeline& t, const track& one) {
  constexpr const char* k_what[] = {"task", "runtime", "looking", "messages", "parked", "unknown"};
  std::vector<std::string> all;
  for (const slice& s : one.slices)
    all.push_back(std::to_string(s.begin_ns) + "-" + std::to_string(s.end_ns) + " " +
                  (s.what == activity::task ? t.words[s.name] : k_what[static_cast<std::size_t>(s.what)]));
  return all;
}

// The newest events are kept: a task ran when they begin.
TEST(timeline, what_ran_before_the_first_event_is_told_by_later_ones) {
  node_trace n = node(0);
  n.left_out = {7};
  n.workers[0] = {at(2000, event_kind::steal),
                  at(3000, event_kind::task_wait, 0, 5, 9),
                  at(3100, event_kind::task_resume, 0x10, 5),
                  at(4000, event_kind::task_end),
                  at(4500, event_kind::task_end),  // of one that had been interrupted
                  at(5000, event_kind::region_end, 0, 1),
                  at(5000, event_kind::state, 0, 0, 5)};
  const timeline t = make_timeline({n});
  const track& one = t.tracks[0];
  EXPECT_EQ(described(t, one),
            (std::vector<std::string>{"0-2000 unknown", "2000-3000 first", "3000-3100 runtime", "3100-4000 first",
                                      "4000-4500 a task that began before the trace", "4500-5000 runtime",
                                      "5000-10000 parked"}));
  EXPECT_EQ(t.words[one.waits[0].name], "first");
  ASSERT_EQ(one.regions.size(), 1U);
  EXPECT_EQ(one.regions[0].begin_ns, 2000U);
  EXPECT_NE(timeline_text(t).find("not known                       2.00 us         -"), std::string::npos)
      << timeline_text(t);
}

TEST(timeline, what_nothing_tells_is_not_known) {
  node_trace n = node(0);
  n.left_out = {7};
  n.workers[0] = {at(2000, event_kind::steal), at(3000, event_kind::task_begin, 0x10), at(4000, event_kind::task_end),
                  at(4100, event_kind::state, 0, 0, 5)};
  const timeline t = make_timeline({n});
  EXPECT_EQ(described(t, t.tracks[0]),
            (std::vector<std::string>{"0-2000 unknown", "2000-3000 unknown", "3000-4000 first", "4000-4100 runtime",
                                      "4100-10000 parked"}));
}

// The oldest events are kept.
TEST(timeline, nothing_is_known_after_the_last_event_of_a_full_ring) {
  node_trace n = node(0);
  n.left_out = {7};
  n.form.overwrite = false;
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(200, event_kind::task_wait, 0, 5, 9),
                  at(300, event_kind::task_begin, 0x20), at(400, event_kind::region_begin, 0, 1),
                  at(500, event_kind::steal)};
  const timeline t = make_timeline({n});
  const track& one = t.tracks[0];
  EXPECT_EQ(described(t, one),
            (std::vector<std::string>{"100-200 first", "200-300 runtime", "300-500 second", "500-10000 unknown"}));
  EXPECT_EQ(one.waits.at(0).end_ns, 500U);
  EXPECT_EQ(one.regions.at(0).end_ns, 500U);
}

TEST(timeline, regions_may_overlap_tasks) {
  node_trace n = node(0);
  n.workers[0] = {at(100, event_kind::task_begin, 0x10),   at(150, event_kind::region_begin, 0, 1),
                  at(160, event_kind::region_begin, 0, 1), at(170, event_kind::region_end, 0, 1),
                  at(200, event_kind::task_wait, 0, 5, 9), at(300, event_kind::task_resume, 0x10, 5),
                  at(350, event_kind::region_end, 0, 1),   at(400, event_kind::region_begin, 0, 1)};
  const timeline t = make_timeline({n});
  ASSERT_EQ(t.tracks[0].regions.size(), 3U);
  EXPECT_EQ(t.tracks[0].regions[0].end_ns - t.tracks[0].regions[0].begin_ns, 10U);
  EXPECT_EQ(t.tracks[0].regions[1].end_ns - t.tracks[0].regions[1].begin_ns, 200U);
  EXPECT_EQ(t.words[t.tracks[0].regions[1].name], "build");
  const std::string text = timeline_text(t);  // 10, 200 and, to the end, 9600 ns
  EXPECT_NE(
      text.find("build                                                   3      9.81 us      3.27 us      9.60 us"),
      std::string::npos)
      << text;
}

std::pair<node_trace, node_trace> talking(const std::string& other_machine, std::uint64_t other_raw,
                                          std::uint64_t other_world) {
  node_trace a = node(0);
  node_trace b = node(1, other_machine, other_raw, other_world);
  // Two messages each way, 100 ns of travel; b's ticks begin with a's.
  a.workers[0] = {at(1000, event_kind::send, message_value(64, 0), 1),
                  at(2300, event_kind::receive, message_value(32, 0), 1),
                  at(3000, event_kind::send, message_value(64, 1), 1)};
  b.workers[0] = {
      at(1100, event_kind::receive, message_value(64, 0), 0), at(2200, event_kind::send, message_value(32, 0), 0),
      at(3100, event_kind::receive, message_value(64, 1), 0), at(3200, event_kind::send, message_value(16, 1), 0)};
  return {a, b};
}

TEST(timeline, messages_join_both_ends) {
  const auto [a, b] = talking("a", 1000, 0);
  const timeline t = make_timeline({a, b});
  ASSERT_EQ(t.messages.size(), 3U);
  EXPECT_EQ(t.unmatched_messages, 1U);
  EXPECT_EQ(t.messages[0].received_ns - t.messages[0].sent_ns, 100U);
  EXPECT_EQ(message_matrix(t), (std::vector<std::uint64_t>{0, 128, 32, 0}));
}

// The other machine's clock is late by 50 us, which its messages tell.
TEST(timeline, clocks_of_machines_are_aligned_by_messages) {
  const auto [a, b] = talking("b", 777'000'000, 50'000);
  const timeline t = make_timeline({a, b});
  EXPECT_NEAR(t.clock_shift_ns[1], -50'000, 1);
  for (const message& m : t.messages) EXPECT_NEAR(static_cast<double>(m.received_ns - m.sent_ns), 100, 2);
}

TEST(timeline, parallelism_counts_workers_in_tasks) {
  node_trace a = node(0);
  node_trace b = node(1);
  a.workers[0] = {at(0, event_kind::task_begin, 0x10), at(5000, event_kind::task_end)};
  b.workers[0] = {at(2500, event_kind::task_begin, 0x10), at(7500, event_kind::task_end)};
  const auto p = parallelism(make_timeline({a, b}), 4);
  EXPECT_NEAR(p[0], 1, 1e-9);
  EXPECT_NEAR(p[1], 2, 1e-9);
  EXPECT_NEAR(p[2], 1, 1e-9);
  EXPECT_NEAR(p[3], 0, 1e-9);
}

TEST(timeline, what_the_kernel_took_is_beside_the_slices) {
  node_trace n = node(0);
  n.threads = {4711};
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(900, event_kind::task_end)};
  timeline t = make_timeline({n});
  EXPECT_TRUE(add_kernel_slice(t, 4711, 1000 + 300, 50, "timer interrupt"));
  EXPECT_TRUE(add_kernel_slice(t, 4711, 1000 + 950, 50, "timer interrupt"));
  EXPECT_TRUE(add_kernel_slice(t, 4711, 1, 50, "timer interrupt"));  // before the trace
  EXPECT_FALSE(add_kernel_slice(t, 1, 1300, 50, "timer interrupt"));
  EXPECT_FALSE(add_kernel_slice(t, 0, 1300, 50, "timer interrupt"));
  ASSERT_EQ(t.tracks[0].kernel.size(), 2U);
  EXPECT_EQ(t.tracks[0].kernel[0].begin_ns, 300U);
  const std::string text = timeline_text(t);
  EXPECT_NE(text.find("the kernel took"), std::string::npos);
  EXPECT_NE(text.find("100 ns        50 ns"), std::string::npos) << text;  // one of them not from a task
  EXPECT_NE(timeline_json(t).find("\"cat\":\"kernel\""), std::string::npos);
}

TEST(timeline, marks_are_in_every_output) {
  node_trace n = node(0);
  n.names = {{1, "step"}};
  n.workers[0] = {at(100, event_kind::task_begin, 0x10), at(150, event_kind::mark, 3, 1),
                  at(170, event_kind::mark, 18446744073709551615U, 1), at(200, event_kind::task_end)};
  const timeline t = make_timeline({n});
  ASSERT_EQ(t.tracks[0].marks.size(), 2U);
  EXPECT_EQ(t.tracks[0].marks[1].at_ns, 170U);
  const std::string text = timeline_text(t);
  EXPECT_NE(text.find("marks                            number"), std::string::npos) << text;
  EXPECT_NE(text.find("step                                  2       150 ns       170 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("3 to 18446744073709551615"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(timeline_json(t));
  std::vector<std::uint64_t> values;
  for (const auto& e : json["traceEvents"])
    if (e["ph"] == "i" && e["name"] == "step" && e["tid"] == 0) values.push_back(e["args"]["value"]);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{3, 18446744073709551615U}));
  const paraver_files files = timeline_paraver(t, "01/02/2026 at 03:04");
  const std::string step = std::to_string(std::ranges::find(t.words, "step") - t.words.begin());
  EXPECT_NE(files.prv.find("2:1:1:1:1:150:60000004:" + step + ":60000005:3\n"), std::string::npos) << files.prv;
  EXPECT_NE(files.pcf.find("60000004    Mark"), std::string::npos);
  EXPECT_NE(timeline_page(t).find("marks: [[0.150,"), std::string::npos);
}

timeline example() {
  auto [a, b] = talking("a", 1000, 0);
  a.workers[0].insert(a.workers[0].begin(),
                      {at(100, event_kind::task_begin, 0x10), at(150, event_kind::region_begin, 0, 1),
                       at(400, event_kind::region_end, 0, 1), at(500, event_kind::task_end)});
  a.code[0x10] = "say \"x\" </script> <b>\\";
  return make_timeline({a, b});
}

TEST(timeline_output, json_is_what_viewers_read) {
  const auto j = nlohmann::json::parse(timeline_json(example()));
  int slices = 0;
  int flows = 0;
  int regions = 0;
  for (const auto& e : j["traceEvents"]) {
    ASSERT_TRUE(e.contains("ph") && e.contains("pid") && e.contains("name")) << e;
    const std::string phase = e["ph"];
    if (phase != "M") ASSERT_TRUE(e["ts"].is_number() && e.contains("tid")) << e;
    if (phase == "X") ASSERT_TRUE(e["dur"].is_number()) << e;
    slices += phase == "X" && e["cat"] == "task" ? 1 : 0;
    flows += phase == "s" || phase == "f" ? 1 : 0;
    regions += phase == "b" || phase == "e" ? 1 : 0;
    if (phase == "X" && e["cat"] == "task") EXPECT_EQ(e["name"], "say \"x\" </script> <b>\\");
  }
  EXPECT_EQ(slices, 1);
  EXPECT_EQ(flows, 6);
  EXPECT_EQ(regions, 2);
}

TEST(timeline_output, the_page_hides_what_html_reserves) {
  const std::string page = timeline_page(example());
  EXPECT_EQ(page.find("</script> <b>"), std::string::npos);
  EXPECT_NE(page.find("\\x3c/script>"), std::string::npos);
  EXPECT_NE(page.find("parallelism"), std::string::npos);
}

std::vector<std::uint64_t> numbers_of(const std::string& line) {
  std::vector<std::uint64_t> all;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, ':');) all.push_back(std::stoull(part));
  return all;
}

// A reader of the format, as its description says.
void check_paraver(const std::string& prv, std::uint64_t cpus, std::uint64_t tasks, std::size_t& states,
                   std::size_t& events, std::size_t& communications) {
  std::istringstream in(prv);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  ASSERT_EQ(line.rfind("#Paraver (01/02/2026 at 03:04):", 0), 0U) << line;
  const std::uint64_t length = std::stoull(line.substr(line.find("):") + 2));
  std::uint64_t last = 0;
  const auto check_place = [&](const std::vector<std::uint64_t>& n, std::size_t from) {
    ASSERT_GE(n[from], 1U);
    ASSERT_LE(n[from], cpus);
    ASSERT_EQ(n[from + 1], 1U);
    ASSERT_GE(n[from + 2], 1U);
    ASSERT_LE(n[from + 2], tasks);
    ASSERT_GE(n[from + 3], 1U);
  };
  while (std::getline(in, line)) {
    const auto n = numbers_of(line);
    ASSERT_GE(n.size(), 8U) << line;
    check_place(n, 1);
    ASSERT_GE(n[5], last) << line;  // in the order of time
    last = n[5];
    ASSERT_LE(n[5], length);
    if (n[0] == 1) {
      ASSERT_EQ(n.size(), 8U);
      ASSERT_LE(n[5], n[6]);
      ++states;
    } else if (n[0] == 2) {
      ASSERT_EQ(n.size() % 2, 0U);
      ++events;
    } else {
      ASSERT_EQ(n[0], 3U);
      ASSERT_EQ(n.size(), 15U) << line;
      check_place(n, 7);
      ++communications;
    }
  }
}

TEST(timeline_output, paraver_files_follow_the_format) {
  const paraver_files f = timeline_paraver(example(), "01/02/2026 at 03:04");
  EXPECT_NE(f.prv.find(":2(1,1):1:2(1:1,1:2)\n"), std::string::npos) << f.prv.substr(0, 200);
  std::size_t states = 0;
  std::size_t events = 0;
  std::size_t communications = 0;
  check_paraver(f.prv, 2, 2, states, events, communications);
  EXPECT_GE(states, 2U);
  EXPECT_EQ(events, 4U);
  EXPECT_EQ(communications, 3U);
  EXPECT_NE(f.pcf.find("EVENT_TYPE"), std::string::npos);
  EXPECT_NE(f.row.find("LEVEL THREAD SIZE 2\nnode 0 worker 0\nnode 1 worker 0\n"), std::string::npos);
}

TEST(timeline_output, an_empty_run_has_a_report) {
  const timeline none = make_timeline({node(0)});
  EXPECT_NE(timeline_text(none).find("0 tasks"), std::string::npos);
  EXPECT_NE(timeline_page(none).find("</html>"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(nlohmann::json::parse(timeline_json(none))));
  EXPECT_EQ(timeline_text({}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace shoal::trace

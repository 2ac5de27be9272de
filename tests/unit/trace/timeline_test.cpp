// SPDX-License-Identifier: Apache-2.0
// Traces made by hand, with known answers.
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/timeline_output.hpp"
#include "unit/trace/made_trace.hpp"

namespace shoal::trace {
namespace {

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

}  // namespace
}  // namespace shoal::trace

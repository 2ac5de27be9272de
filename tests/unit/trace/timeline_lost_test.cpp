// SPDX-License-Identifier: Apache-2.0
// Traces of which a part is missing, made by hand.
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/timeline_output.hpp"
#include "unit/trace/made_trace.hpp"

namespace shoal::trace {
namespace {

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

}  // namespace
}  // namespace shoal::trace

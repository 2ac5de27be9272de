// SPDX-License-Identifier: Apache-2.0
// What is written of traces made by hand.
#include "trace/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "trace/timeline_output.hpp"
#include "unit/trace/made_trace.hpp"

namespace shoal::trace {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
// A profile as table, JSON object and picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "shoal/profile_result.hpp"
#include "trace/profile_rows.hpp"

namespace shoal {
namespace {

profile_worker worker_of(double scale) {
  profile_worker w;
  w.work_seconds = 6 * scale;
  w.spawn = {100, 0.5 * scale};
  w.get = {40, 0.25 * scale};
  w.resume = {7, 0.125 * scale};
  w.steal = {3, 0.0625 * scale};
  w.messages = {11, 0.03125 * scale};
  w.ring = {2, 0.03125 * scale};
  w.look = {50, 0.5 * scale};
  w.spin = {49, 0.5 * scale};
  w.park = {5, 2 * scale};
  w.attempts[0] = {1, 2, 3};
  w.attempts[5] = {2, 0, 40};
  w.begun = 43;
  w.left = 7;
  w.served = 4;
  return w;
}

profile example() {
  profile p;
  p.wall_seconds = 10;
  p.workers = {worker_of(1), worker_of(1)};
  p.interval_seconds = 0.005;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    p.running.push_back(i % 3);
    p.offered.push_back(i);
  }
  return p;
}

// The elements of a document, each opened and closed in order; what is no tag is ignored.
struct document {
  std::vector<std::string> names;
  bool balanced = true;
};
document read_tags(const std::string& text) {
  document d;
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos || text.find('<', at + 1) < end) return d.balanced = false, d;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (std::ranges::count(tag, '"') % 2 != 0) d.balanced = false;
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return d.balanced = false, d;
      open.pop_back();
    } else {
      d.names.push_back(name);
      if (tag.back() != '/') open.push_back(name);
    }
  }
  d.balanced = d.balanced && open.empty();
  return d;
}

TEST(profile_result, parts_add_up_to_the_span_of_each_worker) {
  const profile p = example();
  for (const profile_worker& w : p.workers) EXPECT_DOUBLE_EQ(w.seconds(), p.wall_seconds);
  const profile_worker total = p.total();
  EXPECT_DOUBLE_EQ(total.seconds(), 20);
  EXPECT_DOUBLE_EQ(total.work_seconds, 12);
  EXPECT_DOUBLE_EQ(total.scheduling_seconds(), 2);
  EXPECT_DOUBLE_EQ(total.idle_seconds(), 6);
  EXPECT_EQ(total.spawn.count, 200U);
  EXPECT_EQ(total.attempts[5].empty, 80U);
  EXPECT_EQ(total.begun, 86U);
  EXPECT_EQ(total.left, 14U);
  EXPECT_EQ(total.served, 8U);
}

TEST(profile_result, every_part_has_a_row) {
  const profile_worker w = worker_of(1);
  double scheduling = 0;
  double idle = 0;
  std::set<std::string_view> names;
  for (const auto& row : trace::k_profile_rows) {
    (row.part == trace::profile_part::idle ? idle : scheduling) += (w.*row.entry).seconds;
    names.insert(row.name);
  }
  EXPECT_DOUBLE_EQ(scheduling, w.scheduling_seconds());
  EXPECT_DOUBLE_EQ(idle, w.idle_seconds());
  EXPECT_EQ(names.size(), std::size(trace::k_profile_rows));
}

TEST(profile_result, inflation_is_what_the_work_took_longer_than_the_serial_run) {
  profile p = example();
  EXPECT_FALSE(p.inflation_seconds().has_value());
  p.serial_seconds = 9;
  EXPECT_DOUBLE_EQ(*p.inflation_seconds(), 3);
  p.serial_seconds = 13;  // tasks were faster: caches of two workers, say
  EXPECT_DOUBLE_EQ(*p.inflation_seconds(), -1);
}

TEST(profile_json, holds_what_the_profile_holds) {
  profile p = example();
  p.workers[1] = worker_of(0.5);
  p.serial_seconds = 8.5;
  const auto object = nlohmann::json::parse(profile_json(p));
  EXPECT_EQ(object.at("wall_seconds"), 10.0);
  EXPECT_EQ(object.at("serial_seconds"), 8.5);
  EXPECT_EQ(object.at("inflation_seconds"), 0.5);
  EXPECT_EQ(object.at("interval_seconds"), 0.005);
  EXPECT_EQ(object.at("running").get<std::vector<std::uint32_t>>(), p.running);
  EXPECT_EQ(object.at("offered").get<std::vector<std::uint32_t>>(), p.offered);
  ASSERT_EQ(object.at("workers").size(), 2U);
  const auto compare = [](const nlohmann::json& got, const profile_worker& w) {
    EXPECT_NEAR(got.at("seconds").get<double>(), w.seconds(), 1e-7);
    EXPECT_NEAR(got.at("work_seconds").get<double>(), w.work_seconds, 1e-7);
    EXPECT_NEAR(got.at("scheduling_seconds").get<double>(), w.scheduling_seconds(), 1e-7);
    EXPECT_NEAR(got.at("idle_seconds").get<double>(), w.idle_seconds(), 1e-7);
    for (const auto& row : trace::k_profile_rows) {
      const auto& entry = got.at(std::string(row.name));
      EXPECT_EQ(entry.at("count"), (w.*row.entry).count) << row.name;
      EXPECT_NEAR(entry.at("seconds").get<double>(), (w.*row.entry).seconds, 1e-7) << row.name;
    }
    for (std::size_t d = 0; d < w.attempts.size(); ++d) {
      const auto& a = got.at("attempts").at(std::string(trace::k_distance_names[d]));
      EXPECT_EQ(a.at("won"), w.attempts[d].won);
      EXPECT_EQ(a.at("lost"), w.attempts[d].lost);
      EXPECT_EQ(a.at("empty"), w.attempts[d].empty);
    }
    EXPECT_EQ(got.at("tasks"), w.begun);
    EXPECT_EQ(got.at("waits"), w.left);
    EXPECT_EQ(got.at("served"), w.served);
  };
  compare(object.at("workers")[0], p.workers[0]);
  compare(object.at("workers")[1], p.workers[1]);
  compare(object.at("total"), p.total());
}

TEST(profile_json, is_json_also_where_there_is_nothing) {
  profile p;
  p.wall_seconds = std::numeric_limits<double>::infinity();
  const auto object = nlohmann::json::parse(profile_json(p));
  EXPECT_TRUE(object.at("wall_seconds").is_null());
  EXPECT_TRUE(object.at("serial_seconds").is_null());
  EXPECT_TRUE(object.at("workers").empty());
}

TEST(profile_table, shows_split_and_counts) {
  profile p = example();
  const std::string plain = profile_table(p);
  for (const char* words : {"2 workers, 10.000 s", "worker 1", "60.0 %", "10.0 %", "30.0 %", "200 tasks spawned",
                            "86 begun from deques, 114 run by whoever waited",
                            "running at once: 1.00 on average, 2 at most", "one every 5 ms", "machine"})
    EXPECT_NE(plain.find(words), std::string::npos) << words << " is not in\n" << plain;
  for (const auto& row : trace::k_profile_rows)
    EXPECT_NE(plain.find("  " + std::string(row.name) + " "), std::string::npos) << row.name;
  EXPECT_EQ(plain.find("inflation"), std::string::npos);
  p.serial_seconds = 9;
  const std::string split = profile_table(p);
  EXPECT_NE(split.find("inflation"), std::string::npos);
  EXPECT_NE(split.find("3.000000"), std::string::npos) << split;
}

TEST(profile_table, of_nothing_divides_by_nothing) {
  const std::string text = profile_table({});
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
}

TEST(profile_picture, is_a_well_formed_document) {
  for (const std::size_t workers : {0U, 1U, 2U, 24U, 500U}) {
    profile p = example();
    p.workers.assign(workers, worker_of(1));
    for (const bool serial : {false, true}) {
      if (serial) p.serial_seconds = 5;
      const std::string svg = profile_picture(p);
      EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U);
      const document d = read_tags(svg);
      EXPECT_TRUE(d.balanced) << workers;
      EXPECT_EQ(std::ranges::count(d.names, "svg"), 1);
      EXPECT_EQ(std::ranges::count(d.names, "path"), 2);
      EXPECT_GE(static_cast<std::size_t>(std::ranges::count(d.names, "rect")), 4 * workers);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf\""), std::string::npos);
      EXPECT_NE(svg.find("Tasks running at once"), std::string::npos);
      EXPECT_NE(svg.find("time in seconds"), std::string::npos);
      EXPECT_EQ(svg.find(">inflation<") != std::string::npos, serial);
    }
  }
}

TEST(profile_picture, bars_are_as_long_as_their_parts) {
  const std::string svg = profile_picture(example());
  // 840 points for 10 s: work 6 s, scheduling 1 s, idle 3 s.
  for (const char* width : {"width=\"504.00\"", "width=\"84.00\"", "width=\"252.00\""})
    EXPECT_NE(svg.find(width), std::string::npos) << width;
}

TEST(profile_text, what_happened_and_was_not_timed_has_no_time) {
  profile p;
  p.workers.resize(1);
  p.workers[0].work_seconds = 1;
  p.workers[0].resume = {4, 0};
  p.workers[0].ring = {2, 2e-6};
  const std::string text = profile_table(p);
  const auto line = [&text](const char* name) {
    const auto at = text.find(std::string("\n  ") + name) + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line("resume"), "  resume                4           -         -         -   tasks resumed after a wait");
  EXPECT_EQ(line("ring"), "  ring                  2    0.000002      1000     0.0 %   sleepers woken");
  EXPECT_EQ(line("steal"), "  steal                 0    0.000000         -     0.0 %   tasks stolen from others");
}

}  // namespace
}  // namespace shoal

// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/machine_facts.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

TEST(metric, median_of_an_odd_number_is_the_middle_one) {
  metric m{"rate", "Mops/s", {5, 1, 3}};
  EXPECT_EQ(m.median(), 3);
  EXPECT_EQ(m.min(), 1);
  EXPECT_EQ(m.max(), 5);
}

TEST(metric, median_of_an_even_number_lies_between_the_two_in_the_middle) {
  EXPECT_EQ((metric{"rate", "", {4, 1, 2, 100}}.median()), 3);
  EXPECT_EQ((metric{"rate", "", {7}}.median()), 7);
}

TEST(metric, without_values_is_not_a_number) {
  EXPECT_TRUE(std::isnan(metric{}.median()));
  EXPECT_TRUE(std::isnan(metric{}.min()));
}

TEST(report, json_has_the_promised_shape) {
  report result("a title", {"shoal", "bench", "x y"});
  result.parameter("nodes", 2);
  result.parameter("direct", true);
  result.parameter("seconds", 0.5);
  result.parameter("pattern", "remote");
  result.record("rate", "Mops/s", 3);
  result.record("latency", "us", 8);
  result.record("rate", "Mops/s", 1);
  result.check("validated", true, "all roots");
  nlohmann::json object = nlohmann::json::parse(result.json_text());

  EXPECT_EQ(object.size(), 6U);
  EXPECT_TRUE(object.at("shoal").is_string());
  EXPECT_EQ(object.at("command"), (nlohmann::json{"shoal", "bench", "x y"}));
  EXPECT_EQ(object.at("parameters"),
            (nlohmann::json{{"nodes", 2}, {"direct", true}, {"seconds", 0.5}, {"pattern", "remote"}}));
  for (const char* fact : {"cpu", "cores", "memory_bytes", "kernel", "pages"}) {
    EXPECT_TRUE(object.at("machine").contains(fact)) << fact;
  }
  EXPECT_EQ(object.at("metrics").at("rate"),
            (nlohmann::json{{"unit", "Mops/s"}, {"values", {3.0, 1.0}}, {"median", 2.0}, {"min", 1.0}, {"max", 3.0}}));
  EXPECT_EQ(object.at("checks"), (nlohmann::json{{"validated", true}}));
}

TEST(report, an_empty_one_is_still_an_object_of_objects) {
  nlohmann::json object = nlohmann::json::parse(report("nothing", {}).json_text());
  for (const char* part : {"parameters", "metrics", "checks"}) {
    EXPECT_TRUE(object.at(part).is_object()) << part;
    EXPECT_TRUE(object.at(part).empty()) << part;
  }
  EXPECT_TRUE(object.at("command").is_array());
}

TEST(report, what_is_no_number_becomes_null) {
  report result("t", {});
  result.record("rate", "1/s", std::numeric_limits<double>::infinity());
  nlohmann::json object = nlohmann::json::parse(result.json_text());
  EXPECT_TRUE(object.at("metrics").at("rate").at("median").is_null());
}

TEST(report, arguments_that_are_no_utf8_do_not_break_the_json) {
  report result("t", {"\xff\xfe"});
  EXPECT_TRUE(nlohmann::json::accept(result.json_text()));
}

TEST(report, a_check_holds_only_if_it_held_each_time) {
  report result("t", {});
  result.check("sums", true, "first");
  result.check("sums", false, "second");
  result.check("sums", true, "third");
  EXPECT_FALSE(result.passed());
  ASSERT_EQ(result.checks().size(), 1U);
  EXPECT_EQ(result.checks()[0].text, "second");
}

TEST(report, a_parameter_given_again_replaces_the_first) {
  report result("t", {});
  result.parameter("n", 1);
  result.parameter("n", 2);
  EXPECT_EQ(nlohmann::json::parse(result.json_text()).at("parameters"), (nlohmann::json{{"n", 2}}));
}

TEST(report, table_keeps_the_order_and_shows_failures) {
  report result("t", {});
  result.record("zebra", "Mops/s", 1234.5);
  result.record("ant", "ns", 0.25);
  result.check("sums", false, "found 3 instead of 4");
  std::string text = result.table_text();
  EXPECT_LT(text.find("zebra"), text.find("ant"));
  EXPECT_NE(text.find("median"), std::string::npos);
  EXPECT_NE(text.find("0.250"), std::string::npos);
  EXPECT_NE(text.find("check sums: FAILED, found 3 instead of 4"), std::string::npos);
}

TEST(report, table_rows_are_aligned) {
  report result("t", {});
  result.record("a", "ns", 1);
  result.record("a_much_longer_name", "ns", 100000);
  std::istringstream lines(result.table_text());
  std::string line;
  std::vector<std::size_t> columns;
  while (std::getline(lines, line)) columns.push_back(line.find(" ns"));
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[1], columns[2]);
}

TEST(report, finish_writes_the_file_and_gives_the_exit_status) {
  auto path = std::filesystem::temp_directory_path() / ("shoal_report_" + std::to_string(getpid()) + ".json");
  measuring_options options;
  options.json = path.string();
  report result("t", {"x"});
  result.record("rate", "1/s", 2);
  EXPECT_EQ(result.finish(options), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), result.json_text());
  result.check("c", false, "");
  EXPECT_EQ(result.finish(options), 1);
  std::filesystem::remove(path);
}

TEST(report, a_file_that_cannot_be_written_is_an_error) {
  measuring_options options;
  options.json = "/nonexistent-folder/result.json";
  EXPECT_THROW(report("t", {}).finish(options), error);
}

TEST(report, begin_refuses_a_file_that_cannot_be_written) {
  measuring_options options;
  options.json = "/nonexistent-folder/result.json";
  EXPECT_THROW(report("t", {}).begin(options), error);
  options.json = std::filesystem::temp_directory_path().string();
  EXPECT_THROW(report("t", {}).begin(options), error);
  options.json = "/dev/null";
  report("t", {}).begin(options);
}

TEST(report, begin_notes_repeat_and_seconds) {
  measuring_options options;
  options.repeat = 7;
  report result("t", {});
  result.begin(options);
  EXPECT_EQ(nlohmann::json::parse(result.json_text()).at("parameters").at("repeat"), 7);
}

TEST(measuring_options, are_parsed_and_checked) {
  CLI::App app;
  measuring_options options;
  add_measuring_options(app, options);
  app.parse("--repeat 3 --seconds 0.5 --json -");
  EXPECT_EQ(options.repeat, 3);
  EXPECT_EQ(options.seconds, 0.5);
  EXPECT_EQ(options.json, "-");
  EXPECT_THROW(app.parse("--repeat 0"), CLI::ValidationError);
  EXPECT_THROW(app.parse("--seconds -1"), CLI::ValidationError);
}

TEST(machine_facts, are_there) {
  machine_facts facts = read_machine_facts();
  EXPECT_FALSE(facts.cpu_model.empty());
  EXPECT_GE(facts.cores, 1);
  EXPECT_GT(facts.memory_bytes, 1U << 20);
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_EQ(facts.huge_pages.find('['), std::string::npos);
}

TEST(report, knows_the_arguments_of_this_process) {
  std::vector<std::string> arguments = report::process_arguments();
  ASSERT_FALSE(arguments.empty());
  EXPECT_NE(arguments[0].find("unit_bench"), std::string::npos);
}

}  // namespace
}  // namespace shoal::bench

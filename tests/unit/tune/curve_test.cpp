// SPDX-License-Identifier: Apache-2.0
#include "tune/curve.hpp"

#include <gtest/gtest.h>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

using texts = std::vector<std::string>;

TEST(curve, axes_are_options_or_variables) {
  const space s({parse_axis("nodes=2:8:x2"), parse_axis("w=1,2"), parse_axis("SHOAL_BUFFER=4096,8192")}, {});
  EXPECT_EQ(s.parameters()[2].kind, parameter_kind::environment);
  const command_line c = measuring_command_at(s, {2, 1, 0}, {"shoal", "bench", "barrier", "--repeat", "3"});
  EXPECT_EQ(c.arguments,
            (texts{"shoal", "bench", "barrier", "--repeat", "3", "--nodes", "8", "-w", "2", "--json", "-"}));
  EXPECT_EQ(c.environment, texts{"SHOAL_BUFFER=4096"});
}

TEST(curve, metrics_are_read_in_their_order) {
  const auto found = find_metrics(R"(some words {"metrics": {"b_us": {"unit": "us", "values": [3, 1, 2], "median": 2},
    "a": {"unit": "", "values": []}, "c": {"unit": "ms", "values": [1.5, null]}}, "checks": {"sums": true}})");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "b_us");
  EXPECT_EQ(found[0].unit, "us");
  EXPECT_EQ(found[0].values, (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(found[1].values, std::vector<double>{1.5});
  EXPECT_TRUE(find_metrics("nothing").empty());
  EXPECT_TRUE(find_metrics("{\"other\": 1}").empty());
  EXPECT_THROW(find_metrics(R"({"metrics": {"a": {"values": [1]}}, "checks": {"sums": false}})"), error);
}

TEST(curve, pictures_have_a_panel_per_metric_a_curve_per_value_and_crosses_where_nothing_was_measured) {
  const space s({parse_axis("nodes=1:64:x2"), parse_axis("op=a<b,c")}, {});
  curve_panel rate{"rate", "M/s", {}};
  for (std::uint32_t i = 0; i < 7; ++i)
    for (std::uint32_t k = 0; k < 2; ++k)
      if (i != 3) rate.values[{i, k}] = {10.0 * (i + 1) * (k + 1), 9.0 * (i + 1) * (k + 1), 11.0 * (i + 1) * (k + 1)};
  const curve_panel none{"time", "s", {}};
  const std::string picture = curve_picture(s, {rate, none}, {{{3, 0}, "exited with status 1 & more"}}, "a title");
  EXPECT_TRUE(picture.starts_with("<svg"));
  const auto has = [&](const std::string& part) { return picture.find(part) != std::string::npos; };
  for (const char* part : {"a title", "rate, M/s", "time, s", ">64<", "op a&lt;b", "op c", "nodes 4, op c: 60 M/s",
                           "exited with status 1 &amp; more", "a cross"})
    EXPECT_TRUE(has(part)) << part;
  EXPECT_FALSE(has("nan")) << picture;
  EXPECT_FALSE(has("inf"));
  EXPECT_FALSE(has("a<b"));
}

TEST(curve, pictures_of_names_of_one_point_and_of_nothing_are_pictures) {
  const space names({parse_axis("steal=random,nearest")}, {});
  EXPECT_TRUE(curve_picture(names, {{"t", "s", {{{0}, {1, 1, 1}}, {{1}, {0, 0, 0}}}}}, {}, "x").starts_with("<svg"));
  const space one({parse_axis("n=4")}, {});
  for (const auto& panel : {curve_panel{"t", "s", {{{0}, {5, 5, 5}}}}, curve_panel{"t", "s", {}}}) {
    const std::string picture = curve_picture(one, {panel}, {}, "x");
    EXPECT_EQ(picture.find("nan"), std::string::npos) << picture;
  }
}

}  // namespace
}  // namespace shoal::tune

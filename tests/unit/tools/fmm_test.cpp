// SPDX-License-Identifier: Apache-2.0
// `shoal fmm` as a user meets it, and its table and picture.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/shoal/fmm_picture.hpp"
#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::run_command;

#ifdef SHOAL_HAS_FMM

TEST(fmm_command, measures_and_validates_all_forms) {
  const auto picture = std::filesystem::temp_directory_path() / "shoal_fmm_test.svg";
  const answer got = run_command(
      "fmm --bodies 3000 --order 4 -w 1,3 --repeat 2 --json - --distribution ellipsoid --picture " + picture.string(),
      "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto object = nlohmann::json::parse(got.text);
  EXPECT_EQ(object.at("checks").at("validated"), true) << got.text;
  for (const std::string form : {"static", "dynamic", "tiled", "counters", "tiled-data"})
    for (const std::string workers : {"1", "3"})
      EXPECT_EQ(object.at("metrics").at("time_s_" + form + "_" + workers).at("values").size(), 2U) << got.text;
  std::ifstream file(picture);
  const std::string drawn(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(drawn.find("tiled-data"), std::string::npos);
  std::filesystem::remove(picture);
}

TEST(fmm_command, says_what_it_knows) {
  const answer form = run_command("fmm --form quick");
  EXPECT_EQ(form.status, 2) << form.text;
  EXPECT_TRUE(form.has("--form quick: there are serial, static, dynamic, tiled, counters, tiled-data")) << form.text;
  EXPECT_EQ(run_command("fmm --distribution sphere").status, 2);
  EXPECT_EQ(run_command("fmm --order 1").status, 2);
  EXPECT_EQ(run_command("fmm --bodies 0").status, 2);
  const answer unwritable = run_command("fmm --picture /no/such/folder/a.svg --bodies 10");
  EXPECT_NE(unwritable.status, 0);
  EXPECT_TRUE(unwritable.has("cannot write the picture to '/no/such/folder/a.svg'")) << unwritable.text;
}

#else

TEST(fmm_command, says_what_to_install) {
  const answer got = run_command("fmm --bodies 10");
  EXPECT_NE(got.status, 0);
  EXPECT_TRUE(got.has("install FFTW and Eigen (Debian: libfftw3-dev libeigen3-dev)")) << got.text;
}

#endif

TEST(fmm_table, splits_the_time_of_the_workers) {
  shoal::profile p;
  p.wall_seconds = 2;
  p.serial_seconds = 2.5;
  p.workers.resize(2);
  p.workers[0].work_seconds = 2;  // 3 s of work in all, half a second more than without tasks
  p.workers[1].work_seconds = 1;
  p.workers[1].park = {1, 1};
  p.running = {2, 1};
  const std::string text = shoal::tools::fmm_table({{"tiled", 2, p}}, 2.5);
  EXPECT_NE(text.find("tiled              2    2.0000      1.25     62.5%      12.5%       0.0%    25.0%"),
            std::string::npos)
      << text;
  const std::string picture = shoal::tools::fmm_picture({{"tiled", 2, p}}, 2.5);
  EXPECT_NE(picture.find("1 of 2"), std::string::npos);
  EXPECT_NE(picture.find("inflation: 12.5 %"), std::string::npos) << picture;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "runtime/tuned_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "machine/environment.hpp"
#include "runtime/config.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

class tuned_files : public testing::Test {
protected:
  void SetUp() override { machine::set_variable("SHOAL_TUNED", path_); }
  void TearDown() override {
    machine::set_variable("SHOAL_TUNED", "");
    std::filesystem::remove_all(folder_);
  }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_ = testing::TempDir() + "tuned_files";
  std::string path_ = folder_ + "/inner/tuned.toml";
};

TEST_F(tuned_files, settings_are_kept_and_replaced_one_by_one) {
  save_tuned(tuned_file(), {{"steal", "\"nearest\""}, {"workers", "3"}}, "first");
  save_tuned(tuned_file(), {{"workers", "4"}}, "second");
  EXPECT_EQ(text(), "# first\nsteal = \"nearest\"\n# second\nworkers = 4\n");
}

TEST_F(tuned_files, a_job_takes_them_unless_told_otherwise) {
  save_tuned(tuned_file(), {{"workers", "3"}, {"pin", "false"}}, "tuned");
  machine::set_variable("SHOAL_PIN", "on");
  const base::settings s = all_settings();
  machine::set_variable("SHOAL_PIN", "");
  EXPECT_EQ(s.get_int("workers"), 3);
  EXPECT_EQ(s.origin("workers"), base::setting_origin::tuned);
  EXPECT_TRUE(s.get_bool("pin"));
  for (const base::setting_entry& one : s.list()) {
    if (one.declaration->name != "workers") continue;
    EXPECT_NE(one.origin_text.find("tuned"), std::string::npos);
  }
}

TEST_F(tuned_files, what_cannot_be_written_is_named) {
  EXPECT_THROW(save_tuned("", {{"workers", "3"}}, "x"), error);
  EXPECT_THROW(save_tuned("/proc/none/tuned.toml", {{"workers", "3"}}, "x"), error);
}

TEST_F(tuned_files, an_empty_variable_turns_them_off) {
  machine::set_variable("SHOAL_TUNED", "");
  EXPECT_EQ(tuned_file(), "");
}

}  // namespace
}  // namespace shoal::runtime

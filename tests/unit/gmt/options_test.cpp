// SPDX-License-Identifier: Apache-2.0
#include "gmt/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "shoal/error.hpp"

namespace {

using shoal::gmt::options;
using strings = std::vector<std::string>;

// Takes the options out of `arguments`, as main() gets them.
options take(strings& arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  const options found = shoal::gmt::take_options(argc, argv.data());
  EXPECT_EQ(argv[static_cast<std::size_t>(argc)], nullptr);
  arguments = strings(argv.begin(), argv.begin() + argc);
  return found;
}

using setting = std::pair<std::string, std::string>;

TEST(gmt_options, are_taken_with_their_values) {
  strings a{"program", "--gmt_num_workers",    "4", "own", "--gmt-state=folder", "--gmt-num-helpers=2",
            "-x",      "--gmt_thread_pinning", "7"};
  const options found = take(a);
  EXPECT_EQ(a, (strings{"program", "own", "-x", "7"}));
  EXPECT_EQ(found.settings, (std::vector<setting>{{"workers", "4"}, {"helpers", "2"}, {"pin", "on"}}));
  EXPECT_EQ(found.state, "folder");
  EXPECT_TRUE(found.unknown.empty());
  EXPECT_FALSE(found.help);
}

TEST(gmt_options, without_meaning_here_are_taken_too) {
  strings a{"program", "--gmt_max_nesting", "2", "--gmt_limit_parallelism", "own", "--gmt_what", "value", "--gmt_help"};
  const options found = take(a);
  EXPECT_EQ(a, (strings{"program", "own", "value"}));
  EXPECT_EQ(found.unknown, (strings{"--gmt_what"}));
  EXPECT_TRUE(found.settings.empty());
  EXPECT_TRUE(found.help);
}

TEST(gmt_options, sizes_are_brought_into_the_range_of_settings) {
  strings a{"program",           "--gmt_comm_buffer_size", "4194304", "--gmt_num_buffs_per_channel", "1",
            "--gmt_num_helpers", "99999999999999999999"};
  EXPECT_EQ(take(a).settings, (std::vector<setting>{{"buffer", "1048576"}, {"buffers", "2"}, {"helpers", "64"}}));
  strings b{"program", "--gmt_comm_buffer_size=64K", "--gmt_num_workers=many"};
  EXPECT_EQ(take(b).settings, (std::vector<setting>{{"buffer", "64K"}, {"workers", "many"}}));
}

TEST(gmt_options, that_lack_their_value_are_refused) {
  strings a{"program", "--gmt_num_workers"};
  EXPECT_THROW(take(a), shoal::error);
}

TEST(gmt_options, a_program_without_arguments_has_none) {
  strings none;
  EXPECT_TRUE(take(none).settings.empty());
  strings name{"--gmt_help"};  // the program's name is no option
  EXPECT_FALSE(take(name).help);
}

}  // namespace

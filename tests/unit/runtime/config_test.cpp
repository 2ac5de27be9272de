// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace shoal::runtime {
namespace {

TEST(config, joins_the_settings_of_all_folders) {
  std::set<std::string> folders;
  std::set<std::string> names;
  for (const base::setting_entry& one : all_settings().list()) {
    folders.emplace(one.folder);
    EXPECT_TRUE(names.emplace(one.declaration->name).second) << one.declaration->name << " is declared twice";
    EXPECT_FALSE(one.declaration->help.empty()) << one.declaration->name;
  }
  EXPECT_EQ(folders,
            (std::set<std::string>{"array", "base", "collectives", "fiber", "launch", "net", "net/transports/mpi",
                                   "net/transports/sim", "net/transports/ucx", "remote", "runtime", "sched"}));
}

TEST(config, has_the_options_of_each_folder) {
  base::settings s = all_settings();
  for (const auto& [name, value] : {std::pair{"workers", "3"},
                                    {"pin", "off"},
                                    {"stack", "32K"},
                                    {"steal", "random"},
                                    {"start_seconds", "5"},
                                    {"transport", "inproc"},
                                    {"helpers", "1"},
                                    {"segment", "1G"},
                                    {"profile_json", "p.json"}})
    s.set(name, value);
  const config c = read_config(s);
  EXPECT_EQ(c.workers, 3U);
  EXPECT_FALSE(c.pin);
  EXPECT_EQ(c.stack_bytes, 32U << 10);
  EXPECT_TRUE(c.steal);
  EXPECT_EQ(c.start_timeout_ns, 5'000'000'000);
  EXPECT_EQ(c.transport, "inproc");
  EXPECT_EQ(c.helpers, 1U);
  EXPECT_EQ(c.segment_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(c.profiling.json, "p.json");
  EXPECT_TRUE(c.profiling.on) << "a file implies a profile";
  EXPECT_EQ(scheduler_options(c).workers, 3U);
  EXPECT_EQ(scheduler_options(c).stack_bytes, 32U << 10);
}

TEST(config, a_misspelt_variable_of_any_folder_is_reported_with_the_nearest_name) {
  for (const auto& [wrong, right] : {std::pair{"SHOAL_STAKS=1", "SHOAL_STACKS"},
                                     {"SHOAL_SPINN=1", "SHOAL_SPIN"},
                                     {"SHOAL_HUB_ADRESS=a", "SHOAL_HUB_ADDRESS"},
                                     {"SHOAL_BUFERS=4", "SHOAL_BUFFERS"},
                                     {"SHOAL_SHARED_CONTEXTS=on", "SHOAL_SHARED_CONTEXT"},
                                     {"SHOAL_OWN_COMMUNICATOR=on", "SHOAL_OWN_COMMUNICATORS"},
                                     {"SHOAL_HELPER=1", "SHOAL_HELPERS"},
                                     {"SHOAL_SEGMENTS=1G", "SHOAL_SEGMENT"},
                                     {"SHOAL_PROFIL=on", "SHOAL_PROFILE"}}) {
    base::settings s = all_settings();
    const char* const variables[] = {wrong, nullptr};
    s.read_environment(variables);
    testing::internal::CaptureStderr();
    s.check();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(std::string("did you mean ") + right + "?"), std::string::npos) << wrong << ": " << said;
  }
}

}  // namespace
}  // namespace shoal::runtime

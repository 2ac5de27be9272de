// SPDX-License-Identifier: Apache-2.0
// Where plugins are looked for, and which files are refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <shoal/error.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "machine/process.hpp"
#include "net/plugin.hpp"

namespace shoal::net {
namespace {

namespace fs = std::filesystem;

error refusal(std::string_view name, const std::vector<std::string>& folders) {
  try {
    load_plugin(name, folders);
  } catch (const error& refused) {
    return refused;
  }
  return {errc::internal, "it was loaded"};
}

bool says(const error& refused, std::string_view part) {
  const bool found = std::string_view(refused.what()).find(part) != std::string_view::npos;
  EXPECT_TRUE(found) << refused.what();
  return found;
}

class plugin_files : public testing::Test {
protected:
  plugin_files() { fs::create_directories(folder_); }
  ~plugin_files() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("shoal_plugins_" + std::to_string(machine::own_pid()));
};

TEST_F(plugin_files, an_absent_one_is_named_with_what_to_install) {
  const error ucx = refusal("ucx", {folder_.string()});
  EXPECT_EQ(ucx.code(), errc::not_found);
  EXPECT_TRUE(says(ucx, "libshoal_net_ucx.so") && says(ucx, folder_.string()) && says(ucx, "libucx-dev"));
  EXPECT_TRUE(says(ucx, "./dev build --with networks"));
  EXPECT_TRUE(says(refusal("mpi_openmpi", {folder_.string()}), "libopenmpi-dev"));
  EXPECT_TRUE(says(refusal("mpi_mpich", {folder_.string()}), "libmpich-dev"));
  EXPECT_TRUE(says(refusal("mpi", {folder_.string()}), "libmpich-dev"));
  EXPECT_TRUE(says(refusal("carrier_pigeon", {folder_.string()}), "libshoal_net_carrier_pigeon.so"));
  EXPECT_FALSE(has_plugin("ucx", std::vector{folder_.string()}));
  EXPECT_FALSE(has_plugin("mpi", std::vector{folder_.string()}));
}

TEST_F(plugin_files, one_that_cannot_be_loaded_gives_the_loaders_reason) {
  std::ofstream(folder_ / "libshoal_net_ucx.so") << std::string(4096, 'x');
  const error refused = refusal("ucx", {"", folder_.string()});
  EXPECT_EQ(refused.code(), errc::unsupported);
  EXPECT_TRUE(says(refused, "libshoal_net_ucx.so") && says(refused, "ELF") && says(refused, "libucx0"));
}

TEST_F(plugin_files, a_library_that_is_no_plugin_is_refused) {
  fs::copy_file(fs::path(SHOAL_BAD_PLUGINS) / "libshoal_no_plugin.so", folder_ / "libshoal_net_ucx.so");
  const error refused = refusal("ucx", {folder_.string()});
  EXPECT_EQ(refused.code(), errc::mismatch);
  EXPECT_TRUE(says(refused, "shoal_net_plugin"));
}

TEST(plugin_loader, one_of_another_interface_or_version_is_refused) {
  const error interface = refusal("bad_interface", {SHOAL_BAD_PLUGINS});
  EXPECT_EQ(interface.code(), errc::mismatch);
  EXPECT_TRUE(says(interface, "interface 99"));
  const error version = refusal("bad_version", {SHOAL_BAD_PLUGINS});
  EXPECT_EQ(version.code(), errc::mismatch);
  EXPECT_TRUE(says(version, "Shoal 0.0.1"));
}

TEST(plugin_loader, the_given_folder_comes_first_and_the_build_is_known) {
  const auto folders = plugin_folders("somewhere");
  ASSERT_GE(folders.size(), 3U);
  EXPECT_EQ(folders.front(), "somewhere");
  EXPECT_NE(plugin_folders("").front(), "");
}

}  // namespace
}  // namespace shoal::net

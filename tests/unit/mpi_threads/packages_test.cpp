// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/packages.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace shoal::mpi_threads {
namespace {

namespace fs = std::filesystem;

TEST(packages, are_numbered_without_gaps_and_a_processor_that_is_off_ends_nothing) {
  const fs::path folder = fs::temp_directory_path() / ("shoal-packages-" + std::to_string(getpid()));
  const int ids[] = {36, 36, -2, 0, 0, 36};  // -2: no file
  for (int p = 0; p < 6; ++p) {
    const fs::path place = folder / ("cpu" + std::to_string(p)) / "topology";
    fs::create_directories(place);
    if (ids[p] != -2) std::ofstream(place / "physical_package_id") << ids[p] << '\n';
  }
  EXPECT_EQ(read_packages(folder.string(), 6), (std::vector<unsigned>{0, 0, 0, 1, 1, 0}));
  fs::remove_all(folder);
  EXPECT_EQ(read_packages(folder.string(), 2), (std::vector<unsigned>{0, 0}));
}

TEST(packages, of_this_machine_hold_the_calling_thread) {
  const package_map map = packages_of_machine();
  EXPECT_GE(map.count, 1U);
  EXPECT_LT(map.package(), map.count);
}

}  // namespace
}  // namespace shoal::mpi_threads

// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher_signs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "machine/environment.hpp"

namespace shoal::launch {
namespace {

class launcher_signs : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    for (const char* name : {"SHOAL_HUB", "PMIX_RANK", "PMI_RANK", "SHOAL_TAKEN"}) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};
INSTANTIATE_TEST_SUITE_P(each, launcher_signs, testing::Values("SHOAL_HUB", "PMIX_RANK", "PMI_RANK"));

TEST_P(launcher_signs, are_seen_until_another_process_has_taken_the_place) {
  EXPECT_FALSE(is_externally_launched());
  machine::set_variable(GetParam(), "1");
  EXPECT_TRUE(is_externally_launched());
  EXPECT_FALSE(external_place_taken());
  take_external_place();
  EXPECT_TRUE(is_externally_launched());
  EXPECT_TRUE(external_place_taken());
  const std::string taken = std::getenv("SHOAL_TAKEN");
  machine::set_variable("SHOAL_TAKEN", "1" + taken.substr(taken.find(' ')));  // as a child of a node sees it
  EXPECT_FALSE(is_externally_launched());
  EXPECT_FALSE(external_place_taken());
  machine::set_variable(GetParam(), "2");  // as a node of another launcher sees it, which a node has started
  EXPECT_TRUE(is_externally_launched());
  EXPECT_FALSE(external_place_taken());
}

TEST(launchers, an_mpi_s_launcher_tells_whether_all_are_here) {
  EXPECT_FALSE(shows_one_machine());
  machine::set_variable("MPI_LOCALNRANKS", "2");
  machine::set_variable("PMI_SIZE", "4");
  EXPECT_FALSE(shows_one_machine());
  machine::set_variable("PMI_SIZE", "2");
  EXPECT_TRUE(shows_one_machine());
  unsetenv("MPI_LOCALNRANKS");
  unsetenv("PMI_SIZE");
}

}  // namespace
}  // namespace shoal::launch

// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "shoal/error.hpp"
#include "unit/machine/in_child.hpp"

namespace shoal::machine {
namespace {

TEST(environment, a_variable_is_set_and_replaced_for_this_process_and_its_children) {
  const int status = in_child([] {
    set_variable("SHOAL_TEST_VARIABLE", "one");
    set_variable("SHOAL_TEST_VARIABLE", "two words");
    if (std::string(std::getenv("SHOAL_TEST_VARIABLE")) != "two words") return 1;
    return std::system("test \"$SHOAL_TEST_VARIABLE\" = 'two words'") == 0 ? 0 : 2;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

TEST(environment, a_name_that_is_none_is_refused) { EXPECT_THROW(set_variable("a=b", "c"), error); }

}  // namespace
}  // namespace shoal::machine

// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "shoal/error.hpp"

namespace shoal::mpi_threads {
namespace {

TEST(settings, environment_tells_all) {
  settings s;
  s.lock = "ticket";
  const auto all = s.environment();
  EXPECT_NE(std::ranges::find(all, "SHOAL_MPI_THREADS_LOCK=ticket"), all.end());
  setenv("SHOAL_MPI_THREADS_SPINS", "many", 1);
  EXPECT_THROW(settings_from_environment(), error);
  unsetenv("SHOAL_MPI_THREADS_SPINS");
}

}  // namespace
}  // namespace shoal::mpi_threads

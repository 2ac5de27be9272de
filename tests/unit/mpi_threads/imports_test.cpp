// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/imports.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace shoal::mpi_threads {
namespace {

TEST(imports, functions_by_their_symbols) {
  EXPECT_EQ(mpi_function("MPI_Win_flush"), "win_flush");
  EXPECT_EQ(mpi_function("PMPI_Send_c"), "send_c");
  for (const char* fortran : {"mpi_send", "mpi_send_", "mpi_send__", "MPI_SEND", "mpi_send_f08_"})
    EXPECT_EQ(mpi_function(fortran), "send");
  EXPECT_EQ(mpi_function("MPIX_Comm_agree"), "mpix_comm_agree");
  EXPECT_EQ(mpi_function("printf"), "");
}

TEST(imports, what_this_program_needs_of_others) {
  bool found = false, defined = false;
  each_import([&](std::string_view symbol) {
    found = found || symbol == "getpid";
    defined = defined || symbol == "main";
    return false;
  });
  EXPECT_GT(getpid(), 0);
  EXPECT_TRUE(found);
  EXPECT_FALSE(defined);
}

TEST(imports, a_program_without_mpi_uses_nothing_of_it) {
  const char* const names[] = {"Win_flush", "getpid"};
  EXPECT_EQ(first_used(names), "");
}

}  // namespace
}  // namespace shoal::mpi_threads

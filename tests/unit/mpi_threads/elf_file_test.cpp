// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/elf_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "shoal/error.hpp"
#include "tools/mpi-threads/launch.hpp"
#include "tools/mpi-threads/settings.hpp"

namespace shoal::mpi_threads {
namespace {

TEST(elf_file, this_program_is_dynamic_and_needs_the_c_library) {
  const elf_file self = read_elf("/proc/self/exe");
  EXPECT_TRUE(self.elf && self.dynamic);
  EXPECT_FALSE(self.defines_mpi);
  EXPECT_NE(std::ranges::find(self.needed, "libc.so.6"), self.needed.end());
  EXPECT_EQ(mpi_of_program("/proc/self/exe"), std::nullopt);
}

TEST(elf_file, what_is_no_elf_or_broken_gives_nothing) {
  const auto path = std::filesystem::temp_directory_path() / ("shoal-elf-" + std::to_string(getpid()));
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string start(4096, '\0');
  self.read(start.data(), static_cast<std::streamsize>(start.size()));
  for (std::size_t length :
       {std::size_t{0}, std::size_t{3}, std::size_t{63}, std::size_t{64}, std::size_t{200}, start.size()}) {
    std::ofstream(path, std::ios::binary) << start.substr(0, length);
    const elf_file file = read_elf(path.string());
    EXPECT_EQ(file.elf, length >= 64);
    EXPECT_FALSE(file.defines_mpi);
  }
  std::ofstream(path) << "#!/bin/sh\n";
  EXPECT_FALSE(read_elf(path.string()).elf);
  EXPECT_FALSE(read_elf((path / "missing").string()).elf);
  std::filesystem::remove(path);
}

TEST(elf_file, libraries_by_name) {
  EXPECT_EQ(mpi_of_library("libmpi.so.40"), "openmpi");
  EXPECT_EQ(mpi_of_library("libmpi.so.12"), "mpich");
  EXPECT_EQ(mpi_of_library("libmpich.so.12"), "mpich");
  EXPECT_EQ(mpi_of_library("libmpi_abi.so.0"), "abi");
  EXPECT_EQ(mpi_of_library("libm.so.6"), std::nullopt);
}

TEST(plan, refuses_what_cannot_work) {
  settings s;
  EXPECT_THROW(plan({}, "", s, {}), error);
  EXPECT_THROW(plan({"mpirun", "x"}, "openmpi", s, {"/nowhere"}), error);
  s.lock = "fair";
  EXPECT_THROW(plan({"mpirun", "x"}, "openmpi", s, {}), error);
}

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

// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/elf_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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

TEST(elf_file, a_library_is_no_program) {
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib"}) {
    const auto path = std::filesystem::path(folder) / "libm.so.6";
    if (!std::filesystem::exists(path)) continue;
    const elf_file library = read_elf(path.string());
    EXPECT_TRUE(library.elf && !library.program && !library.dynamic) << path;
  }
  EXPECT_TRUE(read_elf("/proc/self/exe").program);
}

TEST(plan, gives_a_library_a_name_that_can_be_preloaded) {
  namespace fs = std::filesystem;
  const fs::path all = fs::temp_directory_path() / ("shoal-plan-" + std::to_string(getpid()));
  const fs::path spaced = all / "a folder", colon = all / "a:b", reports = all / "reports";
  for (const auto& one : {spaced, colon, reports}) fs::create_directories(one);
  settings s;
  for (const auto& one : {spaced, colon}) {
    std::ofstream(one / "libshoal_mpi_threads_mpich.so") << "library";
    s.reports = reports.string();
    EXPECT_THROW(plan({"true"}, "mpich", s, {one.string()}), error);  // the library that brings MPI is missing
    std::ofstream(one / "libshoal_mpi_early_mpich.so") << "library";
    const launch_plan made = plan({"true"}, "mpich", s, {one.string()});
    const auto set = std::ranges::find_if(made.environment, [](auto& v) { return v.starts_with("LD_PRELOAD="); });
    ASSERT_NE(set, made.environment.end());
    std::string name;
    std::istringstream names(set->substr(set->find('=') + 1));
    for (const char* file : {"libshoal_mpi_threads_mpich.so", "libshoal_mpi_early_mpich.so"}) {
      ASSERT_TRUE(std::getline(names, name, ':'));
      EXPECT_EQ(name.find(' '), std::string::npos) << name;
      EXPECT_EQ(fs::canonical(name), fs::canonical(one / file));
      fs::remove(name);
    }
    s.reports = spaced.string();
    EXPECT_THROW(plan({"true"}, "mpich", s, {one.string()}), error);
  }
  fs::remove_all(all);
}

TEST(collect, says_in_what_processes_differ) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("shoal-collect-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto report = [](const char* state, const char* level, int spins) {
    return nlohmann::json{{"state", state},     {"level", level},     {"reason", ""}, {"lock", "bounded"},
                          {"wait", "adaptive"}, {"library", "mpich"}, {"bound", 64},  {"spins", spins}};
  };
  std::ofstream(folder / "1.json") << report("finished", "serialized", 2);
  std::ofstream(folder / "2.json") << report("finished", "serialized", 2);
  std::ofstream(folder / "3.json") << report("passed", "single", 2);  // it says nothing of the lock
  nlohmann::json sum = collect(folder.string());
  EXPECT_FALSE(sum.contains("differ"));
  EXPECT_EQ(sum.at("level"), "serialized");
  EXPECT_EQ(sum.at("bound"), 64);
  EXPECT_EQ(sum.at("spins"), 2);
  std::ofstream(folder / "4.json") << report("finished", "multiple", 3);
  sum = collect(folder.string());
  EXPECT_EQ(sum.at("differ"), (std::vector<std::string>{"level", "spins"}));
  EXPECT_EQ(sum.at("level"), "multiple, serialized");
  EXPECT_NE(describe(sum).find("not all processes have the same level, spins"), std::string::npos) << describe(sum);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace shoal::mpi_threads

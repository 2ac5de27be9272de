// SPDX-License-Identifier: Apache-2.0
#include "machine/program_copies.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "machine/images.hpp"
#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

const std::string k_program = SHOAL_PRIVATE_VARIABLES;

template <class F>
F* function(const program_copy& of, const char* name) {
  void* const at = of.find(name);
  EXPECT_NE(at, nullptr) << name;
  return reinterpret_cast<F*>(at);
}

TEST(program_copies, have_variables_of_their_own) {
  program_copies program(k_program);
  constexpr int k_copies = 12;  // of 40 the leak sanitizer loses the thread-local variables, and crashes at the end
  std::vector<program_copy> copies;
  for (int i = 0; i < k_copies; ++i) copies.push_back(program.load());
  // The sum after one step in a fresh copy; each further step adds 1 to each of seven variables.
  constexpr int k_first = 8 + 1 + 1 + 6 + 1 + 5 + 101 + 42;
  for (int round = 0; round < 3; ++round)
    for (const program_copy& c : copies) EXPECT_EQ(function<int()>(c, "step")(), k_first + 7 * round);
  for (std::size_t i = 1; i < copies.size(); ++i)
    EXPECT_NE(function<int*()>(copies[i], "variable")(), function<int*()>(copies[0], "variable")());
}

// Long enough that the loader's own name of the copy would be shorter.
TEST(program_copies, have_the_name_that_a_debugger_shall_read) {
  const std::string shown = "/somewhere/" + std::string(200, '-') + "/program";
  program_copies program(k_program, {}, shown);
  const program_copy first = program.load();
  const program_copy second = program.load();
  for (const program_copy* c : {&first, &second}) {
    Dl_info found{};
    ASSERT_NE(::dladdr(c->find("step"), &found), 0);
    EXPECT_EQ(found.dli_fname, shown);
  }
  EXPECT_EQ(function<int()>(first, "step")(), function<int()>(second, "step")());
}

TEST(program_copies, catch_exceptions_and_end_on_their_own) {
  program_copies program(k_program);
  int ended = 0;
  program_copy stays = program.load();
  function<void(int*)>(stays, "count_end")(&ended);
  {
    const program_copy goes = program.load();
    function<void(int*)>(goes, "count_end")(&ended);
    EXPECT_EQ(function<int(int)>(goes, "thrown")(3), 3);
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(function<int(int)>(stays, "thrown")(4), 4);
  stays = program_copy();
  EXPECT_EQ(ended, 2);
}

// The descriptors of earlier copies are closed, so their numbers come again, and with them the paths.
TEST(program_copies, are_new_after_others_have_gone) {
  program_copies program(k_program);
  for (int i = 0; i < 20; ++i) {
    const program_copy kept = program.load();
    const program_copy again = program.load();
    EXPECT_NE(kept.find("step"), again.find("step"));
    EXPECT_EQ(function<int()>(kept, "step")(), function<int()>(again, "step")());
  }
}

TEST(program_copies, share_what_they_do_not_write) {
  program_copies program(k_program);
  const program_copy one = program.load(), two = program.load();
  EXPECT_GT(program.shared_bytes(), 0U);
  EXPECT_GE(program.private_bytes(), 20'000U);
  EXPECT_GE(program.mappings(), 4U);
  // Both kinds of pages of both copies are mapped from the program's own file.
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  const auto file_of = [&text](const void* address) -> std::string {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::uintptr_t first = 0, last = 0;
      char dash = 0;
      std::istringstream(line) >> std::hex >> first >> dash >> last;
      if (first <= wanted && wanted < last)
        return line.find('/') == std::string::npos ? "" : line.substr(line.find('/'));
    }
    return "";
  };
  for (const program_copy* c : {&one, &two}) {
    EXPECT_EQ(file_of(c->find("step")), k_program);
    EXPECT_EQ(file_of(function<const int*()>(*c, "constant")()), k_program);
    EXPECT_NE(file_of(function<int*()>(*c, "variable")()), k_program);
  }
}

TEST(program_copies, have_thread_locals_in_threads_of_the_program) {
  program_copies program(k_program);
  const program_copy one = program.load();
  const int here = function<int()>(one, "step")();
  int there = 0;
  std::thread([&] { there = function<int()>(one, "step")(); }).join();
  EXPECT_EQ(there, here + 6);  // but for the thread-local variable, which begins anew
}

TEST(program_copies, have_chosen_libraries_of_their_own) {
  program_copies program(SHOAL_PRIVATE_LIBRARY, {"libkeeping_"});
  EXPECT_GT(program.mappings(), program_copies(SHOAL_PRIVATE_LIBRARY).mappings());
  const program_copy one = program.load();
  {
    const program_copy two = program.load();
    EXPECT_EQ(function<int(int)>(one, "use")(1), 1);
    EXPECT_EQ(function<int(int)>(two, "use")(10), 10);
    EXPECT_EQ(function<int(int)>(one, "use")(1), 2);
  }
  const program_copy three = program.load();
  EXPECT_EQ(function<int(int)>(three, "use")(5), 5);
  EXPECT_EQ(function<int(int)>(one, "use")(1), 3);

  program_copies sharing(SHOAL_PRIVATE_LIBRARY);
  const program_copy first = sharing.load(), second = sharing.load();
  EXPECT_EQ(function<int(int)>(first, "use")(1), 1);
  EXPECT_EQ(function<int(int)>(second, "use")(1), 2);
}

std::string refusal(const std::string& path) {
  try {
    program_copies program(path);
    const program_copy copy = program.load();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(program_copies, refuse_what_cannot_be_loaded_twice) {
  EXPECT_NE(refusal("/nowhere/to/be/found").find("cannot open"), std::string::npos);
  EXPECT_NE(refusal(own_executable()).find("is an executable"), std::string::npos) << refusal(own_executable());
  EXPECT_NE(refusal(own_executable()).find("-fPIC"), std::string::npos);
  const auto folder = std::filesystem::temp_directory_path() / ("shoal_copies_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "program";
  std::ofstream(path) << "#!/bin/sh\necho no program\n";
  EXPECT_NE(refusal(path).find("no program"), std::string::npos) << refusal(path);
  // Cut off anywhere: refused by us, or by the loader, never a crash.
  std::ifstream from(k_program, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{40}, std::size_t{64}, std::size_t{200},
                                  std::size_t{600}, std::size_t{4096}, std::size_t{5000}}) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, bytes);
    EXPECT_NE(refusal(path), "") << bytes;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace shoal::machine

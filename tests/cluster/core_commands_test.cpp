// SPDX-License-Identifier: Apache-2.0
// Commands that call a plain function by its place in the program exist in programs that are linked with the C interface,
// and in no others (docs/security.md): the archive keeps what executes them in an object file of that interface.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "tests/cluster/job_process.hpp"
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::has_program;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;

// What calls of other nodes may name in this program: by number, the symbol in its file.
std::map<std::uint64_t, std::string> callees(const std::string& of) {
  std::map<std::uint64_t, std::string> symbols;
  std::istringstream file(run({"nm", program(of)}).text);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::uint64_t address = 0;
    char type = 0;
    std::string name;
    if (in >> std::hex >> address >> type >> name) symbols[address] += name + " ";
  }
  std::map<std::uint64_t, std::string> found;
  std::istringstream listed(run({program(of), "list"}).text);
  for (std::string line; std::getline(listed, line);) {
    unsigned long long number = 0;
    unsigned long long address = 0;
    if (std::sscanf(line.c_str(), "callee %llu at %llx", &number, &address) != 2) continue;
    found[number] = symbols[address];
    EXPECT_NE(found[number], "") << "a callee without a symbol in " << of << ": " << line;
  }
  EXPECT_FALSE(found.empty()) << of;
  return found;
}

std::map<std::uint64_t, std::string> that_call_by_address(const std::string& of) {
  auto all = callees(of);
  std::erase_if(all, [](const auto& one) { return one.second.find("run_untyped") == std::string::npos; });
  return all;
}

outcome send(const std::string& of, std::uint64_t number) {
  return run(launch({"-n", "2", "-w", "1"}, {program(of), "send", std::to_string(number)}), {}, 60);
}

class core_commands : public testing::Test {
protected:
  void SetUp() override {
    if (!has_program("nm")) GTEST_SKIP() << "there is no nm (Debian: binutils)";
  }
};

TEST_F(core_commands, are_executed_by_a_program_that_is_linked_with_the_interface) {
  const auto there = that_call_by_address("cluster_forged_core");
  ASSERT_EQ(there.size(), 2U) << "loops and calls";
  int called = 0;
  for (const auto& [number, name] : there) {
    if (name.find("run_untyped_call") == std::string::npos) continue;
    const outcome got = send("cluster_forged_core", number);
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("called by its address")) << got;
    ++called;
  }
  EXPECT_EQ(called, 1);
}

TEST_F(core_commands, do_not_exist_in_a_program_that_is_not) {
  for (const auto& [number, name] : that_call_by_address("cluster_forged")) ADD_FAILURE() << number << ": " << name;
  const auto all = callees("cluster_forged");
  const outcome got = send("cluster_forged", all.size());  // the first number that names nothing
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_FALSE(got.has("called by its address")) << got;
  EXPECT_TRUE(got.has("a call names no function that this program has registered")) << got;
}

}  // namespace

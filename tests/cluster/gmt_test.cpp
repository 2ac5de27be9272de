// SPDX-License-Identifier: Apache-2.0
// Programs of gmt.h (programs/gmt) as jobs: alone, nodes in one process, processes over shared memory, UCX and MPI.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/cluster/folder.hpp"
#include "tests/cluster/job_process.hpp"
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::has_plugin;
using shoal::test::has_program;
using shoal::test::k_for_mpi;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;
using shoal::test::with;

using strings = std::vector<std::string>;

// Nodes in one process; 0 workers: chosen.
outcome in_process(unsigned nodes, const strings& command, const strings& settings) {
  return run(command,
             with({"SHOAL_NODES=" + std::to_string(nodes), "SHOAL_WORKERS=1", "SHOAL_SEGMENT=256M"}, settings));
}

strings by_run(unsigned nodes, const strings& command, const strings& options = {}) {
  return launch(with({"-n", std::to_string(nodes), "-w", "2"}, options), command);
}

void expect_ok(const outcome& got, const std::string& says) {
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has(says)) << got;
}

class gmt_programs : public testing::TestWithParam<const char*> {
protected:
  void expect_everywhere(const std::string& name, const strings& arguments) const {
    const std::string says = name + " ok";
    const strings command = with({program("gmt_" + name + "_" + GetParam())}, arguments);
    for (const unsigned nodes : {1U, 2U, 4U}) expect_ok(run(by_run(nodes, command)), says);
    expect_ok(run(by_run(3, command, {"--direct", "off"})), says);
    expect_ok(in_process(16, command, {"SHOAL_DIRECT=off"}), says);
    if (has_plugin("ucx")) expect_ok(run(by_run(3, command, {"--transport", "ucx", "--direct", "off"})), says);
    for (const std::string& mpi : {std::string("openmpi"), std::string("mpich")})
      if (has_plugin("mpi_" + mpi) && has_program("mpirun." + mpi))
        expect_ok(run(with({"mpirun." + mpi, "-n", "2"}, with(command, {"--gmt_num_workers", "1"})),
                      with(k_for_mpi, {"SHOAL_TRANSPORT=mpi"})),
                  says);
  }
};
INSTANTIATE_TEST_SUITE_P(in, gmt_programs, testing::Values("c", "cxx"), [](const auto& p) { return p.param; });

TEST_P(gmt_programs, use_arrays_elements_and_memory) {
  expect_everywhere("data", {"own", "--gmt_num_helpers", "1", "--gmt-state_rw"});
}

TEST_P(gmt_programs, run_tasks) { expect_everywhere("tasks", {}); }

TEST_P(gmt_programs, wait_for_handles_of_tasks_that_start_tasks) {
  const std::string seed = std::to_string(std::random_device()() % 1'000'000);
  std::printf("seed %s\n", seed.c_str());
  expect_everywhere("handles", {seed, "2"});
}

class gmt_ends : public testing::Test {
protected:
  static outcome end(const strings& arguments, unsigned nodes = 3) {
    return run(by_run(nodes, with({program("gmt_ends_c")}, arguments)));
  }
  static void expect_status(const outcome& got, int status) {
    EXPECT_EQ(got.status.shell_code(), status) << got;
    EXPECT_FALSE(got.has("before its time")) << got;
  }
};

TEST_F(gmt_ends, with_the_status_of_gmt_main) {
  expect_status(end({"return", "42"}), 42);
  expect_status(end({"return", "42"}, 1), 42);
  expect_status(run({program("gmt_ends_cxx"), "return", "7"}), 7);
}

TEST_F(gmt_ends, with_the_status_of_exit_in_any_task) {
  for (const int status : {0, 44}) {
    const std::string text = std::to_string(status);
    const outcome got = end({"exit_main", text});
    expect_status(got, status);
    EXPECT_TRUE(got.has("task of node 0 leaves\ngoodbye\n")) << got;
    const outcome there = end({"exit_there", text});
    expect_status(there, status);
    EXPECT_TRUE(there.has("task of node 2 leaves")) << there;
    expect_status(end({"exit_in_loop", text}), status);
    expect_status(run({program("gmt_ends_c"), "exit_in_loop", text}), status);
    expect_status(in_process(4, {program("gmt_ends_c"), "exit_there", text}, {}), status);
    if (status != 0 && has_program("mpirun.openmpi")) {  // it makes 1 of 0, where a process ends on its own
      const outcome by_mpi = run(with({"mpirun.openmpi", "-n", "2", program("gmt_ends_c")}, {"exit_there", text}),
                                 with(k_for_mpi, {"SHOAL_WORKERS=1"}));
      EXPECT_EQ(by_mpi.status.shell_code(), status) << by_mpi;
    }
  }
}

TEST_F(gmt_ends, arguments_for_the_library_do_not_reach_the_program) {
  const outcome got = end({"--gmt_num_workers", "1", "arguments", "--gmt_what", "a", "--gmt-state_name=", "--gmt_rest",
                           "b", "--gmt_thread_pinning"});
  expect_status(got, 0);
  EXPECT_TRUE(got.has("argument 0\nargument arguments\nargument a\nargument b\nworkers 1 of node 0\n")) << got;
  for (const char* name : {"--gmt_what", "--gmt_rest"})
    EXPECT_EQ(got.text.find(std::string("no option ") + name), got.text.rfind(std::string("no option ") + name)) << got;
  EXPECT_TRUE(end({"--gmt_help"}, 1).has("--gmt_num_workers N"));
  EXPECT_EQ(end({"return", "0", "--gmt_num_workers"}, 1).status.shell_code(), 1);
  EXPECT_EQ(end({"return", "0", "--gmt_num_workers=many"}, 1).status.shell_code(), 1);
}

TEST_F(gmt_ends, a_node_that_is_too_busy_is_not_called) {
  const outcome got = run(by_run(2, {program("gmt_ends_c"), "busy"}), {"SHOAL_CALL_MEMORY=64K"});
  expect_status(got, 0);
  EXPECT_TRUE(got.has("busy for a while")) << got;
}

TEST_F(gmt_ends, misuse_with_a_message_that_names_the_function) {
  const std::pair<const char*, const char*> cases[] = {
      {"freed", "gmt_get: there is no array"},
      {"null", "gmt_put_value: the array is GMT_DATA_NULL"},
      {"beyond", "gmt_atomic_add: 1 elements from element 10 on are out of the range of an array of 10"},
      {"width", "have 12 bytes"},
      {"handle", "gmt_wait_handle: there is no handle"},
      {"node", "gmt_execute_on_node: there is no such node"},
      {"own_handle", "would wait for ever"},
      {"non_preemptable", "a non-preemptable task"},
      {"returned", "gmt_max_return_size()"},
      {"arguments_length", "gmt_max_args_per_task()"}};
  for (const auto& [name, says] : cases) {
    const outcome got = end({name}, 2);
    EXPECT_EQ(got.status.shell_code(), 134) << name << got;
    EXPECT_TRUE(got.has(says)) << name << got;
  }
}

TEST(gmt_kept, arrays_are_found_again_by_other_jobs) {
  const shoal::test::folder here;
  const auto job = [&](unsigned nodes, const strings& arguments) {
    expect_ok(run(by_run(nodes, with({program("gmt_kept_c"), "--gmt-state=" + (here / "state")}, arguments))),
              "kept ok");
  };
  job(2, {"none"});
  job(3, {"make"});
  job(2, {"check"});
  job(1, {"change"});
  job(4, {"check", "1"});
  // A damaged file, and one that is something else, are no arrays.
  const std::string damaged = here / "state/local.shoal";
  std::filesystem::copy_file(damaged, here / "copy");
  std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) / 2);
  const outcome got = run(by_run(2, {program("gmt_kept_c"), "--gmt-state=" + (here / "state"), "check", "1"}));
  EXPECT_EQ(got.status.shell_code(), 1) << got;
  EXPECT_TRUE(got.has("gmt_attach: ")) << got;
  std::filesystem::remove(damaged);
  std::filesystem::rename(here / "copy", damaged);
  job(2, {"free", "1"});
  job(3, {"none"});
  EXPECT_TRUE(std::filesystem::is_empty(here / "state"));
}

}  // namespace

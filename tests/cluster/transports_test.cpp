// SPDX-License-Identifier: Apache-2.0
// Jobs over network libraries on one machine, started by `shoal run` and by the launchers of both MPIs. That they keep
// the promises, and how they end when a node does. What is not installed is skipped with the reason.
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::all_gone_within;
using shoal::test::has_plugin;
using shoal::test::has_program;
using shoal::test::job_process;
using shoal::test::k_for_mpi;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::processes_in;
using shoal::test::program;
using shoal::test::run;
using shoal::test::with;

struct way {
  const char* name;
  const char* plugin;    // that must be there
  const char* launcher;  // "": shoal run
  const char* transport;
  const char* direct;
};

class ways : public testing::TestWithParam<way> {
protected:
  void SetUp() override {
    if (!has_plugin(GetParam().plugin)) GTEST_SKIP() << "Shoal was built without " << GetParam().plugin;
    if (*GetParam().launcher != '\0' && !has_program(GetParam().launcher))
      GTEST_SKIP() << "there is no " << GetParam().launcher;
  }
  static std::vector<std::string> command(const std::vector<std::string>& what) {
    const way& w = GetParam();
    if (*w.launcher == '\0')
      return launch({"-n", "3", "-w", "1", "--transport", w.transport, "--direct", w.direct}, what);
    return with({w.launcher, "-n", "3"}, what);
  }
  static std::vector<std::string> environment() {
    const way& w = GetParam();
    return with(k_for_mpi, {std::string("SHOAL_TRANSPORT=") + w.transport, std::string("SHOAL_DIRECT=") + w.direct,
                            "SHOAL_WORKERS=1", "SHOAL_LOG=verbose"});
  }
};

INSTANTIATE_TEST_SUITE_P(each, ways,
                         testing::Values(way{"ucx_mapped", "ucx", "", "ucx", "on"},
                                         way{"ucx_messages", "ucx", "", "ucx", "off"},
                                         way{"mpi_messages", "mpi_openmpi", "", "mpi", "off"},
                                         way{"openmpi", "mpi_openmpi", "mpirun.openmpi", "mpi", "off"},
                                         way{"openmpi_starts_shm", "mpi_openmpi", "mpirun.openmpi", "auto", "on"},
                                         way{"openmpi_starts_ucx", "ucx", "mpirun.openmpi", "ucx", "off"},
                                         way{"mpich", "mpi_mpich", "mpirun.mpich", "mpi", "off"},
                                         way{"mpich_starts_shm", "mpi_mpich", "mpirun.mpich", "auto", "off"},
                                         way{"mpich_starts_ucx", "mpi_mpich", "mpirun.mpich", "ucx", "on"}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_P(ways, keep_all_promises) {
  const outcome got = run(command({program("cluster_promises")}), environment(), 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("all promises kept on 3 nodes")) << got;
  EXPECT_TRUE(got.has("3 nodes of 1 worker on 1 machine")) << got;
  const std::string transport = GetParam().transport;
  EXPECT_TRUE(got.has("over " + (transport == "auto" ? "shm" : transport))) << got;
}

TEST_P(ways, a_search_is_validated) {
  const outcome got = run(command({SHOAL_COMMAND, "bfs", "--kronecker", "10", "--roots", "2"}), environment(), 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("validated")) << got;
}

TEST_P(ways, an_exception_of_the_main_task_ends_all) {
  const outcome got = run(command({program("cluster_faults"), "throw"}), environment(), 60);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("the main task gives up")) << got;
}

TEST_P(ways, a_node_that_is_killed_is_named) {
  job_process job(command({program("cluster_faults"), "endless"}), environment());
  ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto nodes = processes_in(job.text());
  ASSERT_EQ(nodes.size(), 3U) << job.text();
  ASSERT_EQ(::kill(nodes.at(1), SIGKILL), 0);
  const outcome got = job.wait(30);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  // A launcher of MPI may end the others before they can say anything.
  if (*GetParam().launcher == '\0' && std::string(GetParam().transport) != "mpi") {
    EXPECT_TRUE(got.has("node 1 (")) << got;
  }
  EXPECT_TRUE(all_gone_within(nodes, 5));
}

TEST_P(ways, a_node_that_is_stopped_for_longer_than_the_limit_is_named_with_what_was_outstanding) {
  // The hub that finds it is the same under all launchers.
  if (std::string(GetParam().name).find("starts") != std::string::npos) return;  // seconds each; five ways do
  job_process job(command({program("cluster_faults"), "endless"}), with(environment(), {"SHOAL_SILENCE_SECONDS=2"}));
  ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
  const auto nodes = processes_in(job.text());
  ASSERT_EQ(nodes.size(), 3U) << job.text();
  const auto begin = job_process::clock::now();
  ASSERT_EQ(::kill(nodes.at(1), SIGSTOP), 0);
  const outcome got = job.wait(40);
  ::kill(nodes.at(1), SIGKILL);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_LT(std::chrono::duration<double>(job_process::clock::now() - begin).count(), 20) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("node 1 (")) << got;
  EXPECT_TRUE(got.has("of requests to it not executed") || got.has("no requests to it outstanding")) << got;
  EXPECT_TRUE(all_gone_within(nodes, 5));
}

}  // namespace

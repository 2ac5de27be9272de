// SPDX-License-Identifier: Apache-2.0
// Jobs over network libraries: started by `shoal run`, by the launchers of both MPIs, and between two network
// namespaces, which are two machines as far as memory is concerned. That they keep the promises, and how they end when a
// node or a link does. What is not installed, or needs root, is skipped with the reason.
#include <csignal>

#include "tests/cluster/job_process.hpp"

namespace {

using shoal::test::all_gone_within;
using shoal::test::job_process;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::processes_in;
using shoal::test::program;
using shoal::test::run;

// Open MPI does not like root, nor more processes than processors.
const std::vector<std::string> k_for_mpi{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                         "OMPI_MCA_rmaps_base_oversubscribe=1"};

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool has_plugin(const std::string& name) {
  return std::filesystem::exists(std::filesystem::path(SHOAL_COMMAND).parent_path() / "lib" /
                                 ("libshoal_net_" + name + ".so"));
}

bool has_program(const std::string& name) { return shoal::machine::find_program(name) != name; }

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
  EXPECT_TRUE(got.has("3 nodes of 1 workers on 1 machine")) << got;
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
  if (std::string(GetParam().name).find("starts") != std::string::npos) GTEST_SKIP() << "seconds each; five ways do";
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
  EXPECT_TRUE(got.has("of requests to it") || got.has("no requests to it")) << got;
  EXPECT_TRUE(all_gone_within(nodes, 5));
}

// Two namespaces joined by a cable: as two machines.
class two_machines : public testing::Test {
protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make network namespaces";
    if (!has_program("ip")) GTEST_SKIP() << "there is no ip (Debian: iproute2)";
    const std::string made = "ip netns add " + a_ + " && ip netns add " + b_ + " && ip link add " + a_ + " netns " +
                             a_ + " type veth peer name " + b_ + " netns " + b_ + " && ip -n " + a_ +
                             " addr add 10.77.0.1/24 dev " + a_ + " && ip -n " + b_ + " addr add 10.77.0.2/24 dev " +
                             b_ + " && ip -n " + a_ + " link set " + a_ + " up && ip -n " + b_ + " link set " + b_ +
                             " up && ip -n " + a_ + " link set lo up && ip -n " + b_ + " link set lo up && " + up(a_) +
                             " && " + up(b_);
    const outcome got = run({"/bin/bash", "-c", made});
    made_ = got.status.clean();
    if (!made_) GTEST_SKIP() << "network namespaces are refused here: " << got;
  }
  void TearDown() override { run({"/bin/bash", "-c", "ip netns del " + a_ + "; ip netns del " + b_}); }

  // Until the cable is seen at that end, within ten seconds.
  static std::string up(const std::string& end) {
    return "timeout 10 bash -c 'until ip -n " + end + " link show " + end + " | grep -q LOWER_UP; do sleep 0.05; done'";
  }

  // The command runs in the first one, and starts a node in each.
  std::vector<std::string> across(const std::vector<std::string>& options, const std::vector<std::string>& what) const {
    const auto inside = launch(
        with({"--hosts", a_ + "," + b_, "--remote-shell", SHOAL_REMOTE_SHELL, "--listen", "10.77.0.1", "-w", "1"},
             options),
        what);
    return with({"ip", "netns", "exec", a_}, inside);
  }

  const std::string a_ = "shoal-a" + std::to_string(::getpid() % 10000),
                    b_ = "shoal-b" + std::to_string(::getpid() % 10000);
  bool made_ = false;
};

TEST_F(two_machines, keep_all_promises_over_tcp) {
  if (!has_plugin("ucx")) GTEST_SKIP() << "Shoal was built without ucx";
  const outcome got = run(across({}, {program("cluster_promises")}), {"SHOAL_LOG=verbose", "UCX_TLS=tcp,self"}, 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("all promises kept on 2 nodes")) << got;
  EXPECT_TRUE(got.has("on 2 machines")) << got;
  EXPECT_TRUE(got.has("over ucx")) << got;
}

TEST_F(two_machines, a_link_that_is_cut_ends_both) {
  if (!has_plugin("ucx")) GTEST_SKIP() << "Shoal was built without ucx";
  job_process job(across({}, {program("cluster_faults"), "endless"}), {"UCX_TLS=tcp,self", "SHOAL_SILENCE_SECONDS=2"});
  ASSERT_TRUE(job.says(" pid ", 2)) << job.text();
  const auto nodes = processes_in(job.text());
  ASSERT_EQ(nodes.size(), 2U) << job.text();
  run({"ip", "-n", b_, "link", "set", b_, "down"});
  const outcome got = job.wait(40);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("node 1 (")) << got;
  EXPECT_TRUE(all_gone_within(nodes, 10));
}

}  // namespace

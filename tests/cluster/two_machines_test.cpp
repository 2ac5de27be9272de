// SPDX-License-Identifier: Apache-2.0
// Jobs between two network namespaces, which are two machines as far as memory and networks are concerned: over UCX,
// started by `shoal run`, and over both MPIs, started by their launchers. That they keep the promises, and how they end
// when the cable between them is cut. What is not installed, or needs root, is skipped with the reason.
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

constexpr const char* k_silence = "SHOAL_SILENCE_SECONDS=2";

struct starter {
  const char* name;
  const char* plugin;    // that must be there
  const char* launcher;  // "": shoal run
  const char* transport;
};

class jobs_of_two_machines : public shoal::test::two_machines, public testing::WithParamInterface<starter> {
protected:
  void SetUp() override {
    const starter& s = GetParam();
    if (!has_plugin(s.plugin)) GTEST_SKIP() << "Shoal was built without " << s.plugin;
    if (*s.launcher != '\0' && !has_program(s.launcher)) GTEST_SKIP() << "there is no " << s.launcher;
    two_machines::SetUp();
  }

  // The launcher runs in the first one, and starts a node in each.
  std::vector<std::string> across(const std::vector<std::string>& what) const {
    const std::string launcher = GetParam().launcher;
    if (launcher.empty())
      return in_a(
          launch({"--hosts", a_ + "," + b_, "--remote-shell", SHOAL_REMOTE_SHELL, "--listen", "10.77.0.1"}, what));
    std::vector<std::string> command{launcher};
    if (launcher == "mpirun.openmpi")
      command = with(command, {"--mca", "plm_rsh_agent", SHOAL_REMOTE_SHELL, "--mca", "oob_tcp_if_include",
                               "10.77.0.0/24", "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "pml", "ob1",
                               "--mca", "btl", "tcp,self", "-host", "10.77.0.1:1,10.77.0.2:1", "-n", "2"});
    else
      command = with(command, {"-launcher", "ssh", "-launcher-exec", SHOAL_REMOTE_SHELL, "-localhost", "10.77.0.1",
                               "-hosts", "10.77.0.1,10.77.0.2", "-n", "2"});
    return in_a(with(command, what));
  }
  std::vector<std::string> environment(const std::vector<std::string>& more = {}) const {
    const auto common =
        with(k_for_mpi, {std::string("SHOAL_TRANSPORT=") + GetParam().transport, "SHOAL_WORKERS=1", "SHOAL_LOG=verbose",
                         "UCX_TLS=tcp,self", "NAMESPACE_OF=10.77.0.1=" + a_ + " 10.77.0.2=" + b_});
    return with(common, more);
  }
};

INSTANTIATE_TEST_SUITE_P(each, jobs_of_two_machines,
                         testing::Values(starter{"ucx", "ucx", "", "auto"},  // which chooses it
                                         starter{"openmpi", "mpi_openmpi", "mpirun.openmpi", "mpi"},
                                         starter{"mpich", "mpi_mpich", "mpirun.mpich", "mpi"}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_P(jobs_of_two_machines, keep_all_promises) {
  const outcome got = run(across({program("cluster_promises")}), environment(), 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("all promises kept on 2 nodes")) << got;
  EXPECT_TRUE(got.has("on 2 machines")) << got;
  EXPECT_TRUE(got.has(*GetParam().launcher == '\0' ? "over ucx" : "over mpi")) << got;
}

TEST_P(jobs_of_two_machines, search_and_validate) {
  const outcome got = run(across({SHOAL_COMMAND, "bfs", "--kronecker", "10", "--roots", "2"}), environment(), 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("validated")) << got;
}

TEST_P(jobs_of_two_machines, end_when_the_cable_is_cut) {
  job_process job(across({program("cluster_faults"), "endless"}), environment({k_silence}));
  ASSERT_TRUE(job.says(" pid ", 2)) << job.text();
  const auto nodes = processes_in(job.text());
  ASSERT_EQ(nodes.size(), 2U) << job.text();
  cut_the_cable();
  const bool mpi = *GetParam().launcher != '\0';
  EXPECT_TRUE(job.says("node 1 (", 1, 20)) << job.text();
  EXPECT_TRUE(all_gone_within(nodes, mpi ? 20 : 40)) << job.text();
  // An MPI's launcher waits for its own other half, which nothing reaches any more.
  if (mpi) job.signal(SIGKILL);
  const outcome got = job.wait(40);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("node 1 (")) << got;
  EXPECT_TRUE(got.has("of requests to it") || got.has("no requests to it")) << got;
}

class a_machine : public shoal::test::two_machines {};

TEST_F(a_machine, without_a_free_port_is_told_so) {
  if (!has_plugin("ucx")) GTEST_SKIP() << "Shoal was built without ucx";
  if (!has_program("python3")) GTEST_SKIP() << "there is no python3 to hold the port";
  // One port to choose from, and somebody has it.
  const outcome narrowed = run(in_a({"/bin/sh", "-c", "echo 50000 50000 >/proc/sys/net/ipv4/ip_local_port_range"}));
  ASSERT_TRUE(narrowed.status.clean()) << narrowed;
  const job_process holder(in_a({"python3", "-c",
                                 "import socket, time; s = socket.socket(); s.bind(('10.77.0.1', 50000)); s.listen(); "
                                 "print('held', flush=True); time.sleep(100)"}));
  ASSERT_TRUE(holder.says("held"));
  const outcome got = run(in_a(launch(
      {"--hosts", a_ + "," + b_, "--remote-shell", SHOAL_REMOTE_SHELL, "--listen", "10.77.0.1", "--transport", "ucx"},
      {program("cluster_faults"), "works"})));
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("cannot listen on 10.77.0.1:0")) << got;
  EXPECT_TRUE(got.has("no port is free; end other programs")) << got;
}

}  // namespace

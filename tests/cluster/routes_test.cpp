// SPDX-License-Identifier: Apache-2.0
// Whole jobs over routes: the promises to programs over every transport, and what a job of many nodes takes.
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::has_plugin;
using shoal::test::k_for_mpi;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;
using shoal::test::with;

struct routed_job {
  const char* name;
  const char* route;
  const char* transport;
  const char* nodes;
  const char* workers;
};

class routed_jobs : public testing::TestWithParam<routed_job> {
protected:
  void SetUp() override {
    const std::string transport = GetParam().transport;
    const std::string plugin = transport == "mpi" ? "mpi_openmpi" : transport;
    if ((transport == "ucx" || transport == "mpi") && !has_plugin(plugin))
      GTEST_SKIP() << "Shoal was built without " << plugin;
  }
  static outcome run_here(const std::vector<std::string>& what, double seconds) {
    const routed_job& j = GetParam();
    const std::string transport = j.transport;
    const std::vector<std::string> settings =
        with(k_for_mpi, {std::string("SHOAL_ROUTE=") + j.route, "SHOAL_TRANSPORT=" + transport, "SHOAL_DIRECT=off",
                         std::string("SHOAL_WORKERS=") + j.workers, "SHOAL_LOG=verbose"});
    if (transport == "inproc" || transport == "sim")
      return run(what, with(settings, {std::string("SHOAL_NODES=") + j.nodes}), seconds);
    return run(launch({"-n", j.nodes}, what), settings, seconds);
  }
};

constexpr routed_job k_in_process[] = {{"shared_inproc", "shared", "inproc", "3", "2"},
                                       {"grid_inproc", "grid", "inproc", "5", "1"},
                                       {"cube_inproc", "cube", "inproc", "8", "1"}};
constexpr routed_job k_others[] = {
    {"shared_shm", "shared", "shm", "2", "2"}, {"machine_shm", "machine", "shm", "3", "1"},
    {"grid_shm", "grid", "shm", "4", "1"},     {"grid_ucx", "grid", "ucx", "4", "1"},
    {"grid_mpi", "grid", "mpi", "4", "1"},     {"shared_sim", "shared", "sim", "4", "4"},
    {"grid_sim", "grid", "sim", "13", "2"},    {"cube_sim", "cube", "sim", "30", "1"}};
constexpr auto k_name = [](const auto& given) { return std::string(given.param.name); };
// The command starts processes, or simulates: it has no searches in one process.
class routed_searches : public routed_jobs {};
INSTANTIATE_TEST_SUITE_P(in_process, routed_jobs, testing::ValuesIn(k_in_process), k_name);
INSTANTIATE_TEST_SUITE_P(each, routed_jobs, testing::ValuesIn(k_others), k_name);
INSTANTIATE_TEST_SUITE_P(each, routed_searches, testing::ValuesIn(k_others), k_name);

TEST_P(routed_jobs, keep_all_promises) {
  const outcome got = run_here({program("cluster_promises")}, 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has(std::string("all promises kept on ") + GetParam().nodes + " nodes")) << got;
  EXPECT_TRUE(got.has(std::string("route ") + GetParam().route)) << got;
}

TEST_P(routed_searches, a_search_is_validated) {
  const std::string nodes = GetParam().nodes;
  std::vector<std::string> command{SHOAL_COMMAND, "bfs", "--kronecker", "10", "--roots", "2"};
  const std::string transport = GetParam().transport;
  if (transport == "sim") command = with(command, {"-n", nodes, "-w", GetParam().workers});
  const outcome got = run_here(command, 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("validated")) << got;
}

// Many nodes choose a route by themselves.
TEST(routes, hundreds_of_nodes_choose_a_grid) {
  const outcome got = run({SHOAL_COMMAND, "histogram", "--transport", "sim", "-n", "300", "-w", "1", "--updates",
                           "300000", "--repeat", "1"},
                          {"SHOAL_LOG=verbose"}, 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("route grid: 2 hops")) << got;
  EXPECT_TRUE(got.has("validated: ok")) << got;
  // Most blocks for 299 other nodes take a second hop.
  const auto of = [&got](const char* metric) {
    const std::size_t at = got.text.find(metric);
    return at == std::string::npos ? -1 : std::atof(got.text.c_str() + at + std::string(metric).size());
  };
  EXPECT_GT(of("blocks_first_hop"), 0) << got;
  EXPECT_GT(of("blocks_further_hops"), of("blocks_first_hop") / 2) << got;
  EXPECT_GT(of("shared_buffers"), 0) << got;
}

TEST(routes, too_little_memory_is_refused_with_what_is_needed) {
  const outcome got = run({program("cluster_promises")},
                          {"SHOAL_NODES=4", "SHOAL_WORKERS=2", "SHOAL_ROUTE=grid", "SHOAL_AGGREGATION_MEMORY=64K"}, 30);
  EXPECT_FALSE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("SHOAL_AGGREGATION_MEMORY")) << got;
}

TEST(routes, a_thread_that_moves_messages_has_none) {
  const outcome got = run({program("cluster_promises")},
                          {"SHOAL_NODES=3", "SHOAL_WORKERS=1", "SHOAL_ROUTE=grid", "SHOAL_PROGRESS=server"}, 30);
  EXPECT_FALSE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("set SHOAL_ROUTE=direct, or leave SHOAL_PROGRESS out")) << got;
}

}  // namespace

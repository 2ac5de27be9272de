// SPDX-License-Identifier: Apache-2.0
// Settings as a user of a program meets them: unknown names, wrong values, the configuration file, precedence.
#include "base/settings.hpp"

#include "machine/page_choice.hpp"
#include "tests/cluster/network_job.hpp"

namespace {

using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;

const std::vector<std::string> k_works{program("cluster_faults"), "works"};

// A folder with a configuration file, and a command that runs there.
class in_folder : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("shoal-settings-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  outcome run_with(const std::string& configuration, const std::vector<std::string>& command,
                   std::vector<std::string> environment = {}) const {
    std::ofstream(folder_ / "shoal.toml") << configuration;
    return run(shoal::test::in_shell("cd '" + folder_.string() + "';", command), std::move(environment));
  }
  std::filesystem::path folder_;
};

TEST(settings_of_a_job, a_misspelt_variable_is_warned_about_with_the_nearest_name) {
  const outcome got = run(k_works, {"SHOAL_WORKRES=2"});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("SHOAL_WORKRES")) << got;
  EXPECT_TRUE(got.has("did you mean SHOAL_WORKERS?")) << got;
  const outcome job = run(launch({"-n", "2"}, k_works), {"SHOAL_DIRCET=off"});
  EXPECT_TRUE(job.status.clean()) << job;
  EXPECT_TRUE(job.has("did you mean SHOAL_DIRECT?")) << job;
}

// Of a job of several processes that see the same variables and files.
TEST(settings_of_a_job, a_warning_is_printed_once) {
  const auto times = [](const outcome& got, const std::string& part) {
    int count = 0;
    for (auto at = got.text.find(part); at != std::string::npos; at = got.text.find(part, at + 1)) ++count;
    return count;
  };
  std::vector<std::vector<std::string>> commands{
      k_works, launch({"-n", "2"}, k_works), {SHOAL_COMMAND, "bfs", "--kronecker", "6", "--roots", "1", "-n", "2"}};
  for (const std::string name : {"ucx", "mpi"})
    if (shoal::test::has_plugin(name == "mpi" ? "mpi_openmpi" : name))
      commands.push_back(launch({"-n", "2", "--transport", name}, k_works));
  for (const std::string mpirun : {"mpirun.openmpi", "mpirun.mpich"})
    if (shoal::test::has_program(mpirun)) commands.push_back({mpirun, "-n", "2", k_works[0], k_works[1]});
  for (const auto& command : commands) {
    const outcome got = run(command, shoal::test::with(shoal::test::k_for_mpi, {"SHOAL_DIRCET=off"}));
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_EQ(times(got, "did you mean SHOAL_DIRECT?"), 1) << command[0] << " " << command[1] << ": " << got;
  }
}

TEST(settings_of_a_job, wrong_values_are_refused_with_range_and_origin) {
  for (const auto& [variable, words] :
       {std::pair{"SHOAL_WORKERS=many", "the setting workers must be"}, std::pair{"SHOAL_WORKERS=-1", "'-1'"},
        std::pair{"SHOAL_WORKERS=100000", "SHOAL_WORKERS in the environment"},
        std::pair{"SHOAL_BUFFER=1", "the setting buffer"}, std::pair{"SHOAL_DIRECT=perhaps", "the setting direct"},
        std::pair{"SHOAL_STACK=1", "the setting stack"}, std::pair{"SHOAL_STACKS=1", "the setting stacks"},
        std::pair{"SHOAL_SEGMENT=9E", "the setting segment"}, std::pair{"SHOAL_NODES=0", "the setting nodes"}}) {
    for (const auto& command : {k_works, launch({"-n", "2"}, k_works)}) {
      const outcome got = run(command, {variable}, 20);
      EXPECT_EQ(got.status.signal, 0) << variable << ": " << got;
      EXPECT_TRUE(got.status.code == 1 || got.status.code == 2) << variable << ": " << got;
      EXPECT_TRUE(got.has(words)) << variable << ": " << got;
    }
  }
}

TEST(settings_of_a_job, victim_policies_and_topologies_are_judged_at_start) {
  for (const auto& [variable, words] :
       {std::pair{"SHOAL_STEAL=rondom",
                  "the setting steal (from SHOAL_STEAL in the environment): 'rondom' is no victim"},
        std::pair{"SHOAL_STEAL=nearest(50,3,1,slaves)", "'slaves' should be all or masters"},
        std::pair{"SHOAL_STEAL=rondom", "loaded, loaded_every(K), nearest("},
        std::pair{"SHOAL_TOPOLOGY=four packages",
                  "the setting topology (from SHOAL_TOPOLOGY in the environment): 'four"},
        std::pair{"SHOAL_TOPOLOGY=package:0", "write for instance 'package:2 core:4 pu:2'"},
        std::pair{"SHOAL_TOPOLOGY=package:1000000 core:1000000", "more than 65536 processors"}})
    for (const auto& command : {k_works, launch({"-n", "2"}, k_works)}) {
      const outcome got = run(command, {variable}, 20);
      EXPECT_EQ(got.status.signal, 0) << variable << ": " << got;
      EXPECT_TRUE(got.status.code == 1 || got.status.code == 2) << variable << ": " << got;
      EXPECT_TRUE(got.has(words)) << variable << ": " << got;
    }
  const outcome bench = run({SHOAL_COMMAND, "bench", "barrier", "-n", "2", "--steal", "rondom"}, {}, 20);
  EXPECT_NE(bench.status.code, 0) << bench;
  const std::string once = "the setting steal (from the command line): 'rondom' is no victim policy";
  EXPECT_TRUE(bench.has(once)) << bench;
  EXPECT_EQ(bench.text.find(once), bench.text.rfind(once)) << bench;
}

TEST(settings_of_a_job, victim_policies_and_topologies_are_taken) {
  for (const char* policy :
       {"random", "sticky", "loaded", "loaded_every(3)", "nearest(5,2,1,masters)", "sorted(5,policy2,package)"})
    for (const char* machine : {"SHOAL_TOPOLOGY=", "SHOAL_TOPOLOGY=package:2 l3:1 core:2"}) {
      const outcome alone = run(k_works, {"SHOAL_WORKERS=4", std::string("SHOAL_STEAL=") + policy, machine});
      EXPECT_TRUE(alone.status.clean()) << policy << ", " << machine << ": " << alone;
      const outcome job = run(launch({"-n", "2", "-w", "3", "--steal", policy}, k_works), {machine});
      EXPECT_TRUE(job.status.clean()) << policy << ", " << machine << ": " << job;
    }
}

TEST(settings_of_a_job, pages_are_options_of_run_and_of_kernels) {
  const std::vector<std::string> kernel = {SHOAL_COMMAND, "histogram", "--table-mb", "8",
                                           "--updates",   "10000",     "-n",         "2"};
  for (const char* pages : {"4k", "huge-try"}) {
    const outcome job = run(launch({"-n", "2", "--pages", pages, "--stack-pages", pages}, k_works), {});
    EXPECT_TRUE(job.status.clean()) << pages << ": " << job;
    std::vector<std::string> command = kernel;
    command.insert(command.end(), {"--pages", pages, "--stack-pages", pages});
    const outcome histogram = run(command);
    EXPECT_TRUE(histogram.status.clean()) << pages << ": " << histogram;
  }
  if (shoal::machine::read_page_pool(shoal::machine::k_giant_page_bytes).pages != 0) return;
  for (const auto& command : {launch({"-n", "2", "--pages", "1g"}, k_works), launch({"-n", "2"}, k_works), k_works}) {
    const outcome got = run(command, {"SHOAL_PAGES=1g"}, 20);
    EXPECT_FALSE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("global memory (setting pages) cannot be on 1 GiB pages: the pool has none")) << got;
  }
  EXPECT_TRUE(run(launch({"-n", "2", "--pages", "3m"}, k_works), {}, 20).has("--pages"));
}

TEST(settings_of_a_job, the_command_line_wins_and_its_mistakes_are_errors) {
  EXPECT_TRUE(run({program("cluster_faults"), "works", "--shoal-nodes=3"}, {"SHOAL_NODES=2"}).has("works on 3"));
  const outcome unknown = run({program("cluster_faults"), "works", "--shoal-workres=3"});
  EXPECT_EQ(unknown.status.code, 1) << unknown;
  EXPECT_TRUE(unknown.has("did you mean workers?")) << unknown;
  const outcome without = run({program("cluster_faults"), "works", "--shoal-workers", "2"});
  EXPECT_FALSE(without.status.clean()) << without;
  EXPECT_TRUE(without.has("--shoal-workers has no value; write for instance --shoal-workers=2")) << without;
  const outcome wrong = run({program("cluster_faults"), "works", "--shoal-workers=x"});
  EXPECT_EQ(wrong.status.code, 1) << wrong;
  EXPECT_TRUE(wrong.has("the command line")) << wrong;
}

TEST_F(in_folder, the_file_holds_below_the_environment) {
  EXPECT_TRUE(run_with("nodes = 3\n", k_works).has("works on 3"));
  EXPECT_TRUE(run_with("nodes = 3\n", k_works, {"SHOAL_NODES=2"}).has("works on 2"));
}

TEST_F(in_folder, a_malformed_file_is_refused_with_its_line) {
  for (const auto& command : {k_works, launch({"-n", "2"}, k_works)}) {
    const outcome malformed = run_with("workers = 1\nbuffer = = 3\n", command);
    EXPECT_NE(malformed.status.code, 0) << malformed;
    EXPECT_TRUE(malformed.has("shoal.toml, line 2")) << malformed;
    const outcome value = run_with("\n\nworkers = \"three\"\n", command);
    EXPECT_NE(value.status.code, 0) << value;
    EXPECT_TRUE(value.has("shoal.toml, line 3")) << value;
    const outcome kind = run_with("workers = [1, 2]\n", command);
    EXPECT_NE(kind.status.code, 0) << kind;
    EXPECT_TRUE(kind.has("shoal.toml, line 1")) << kind;
    const outcome unknown = run_with("workres = 1\n", command);
    EXPECT_TRUE(unknown.status.clean()) << unknown;
    EXPECT_TRUE(unknown.has("did you mean workers?")) << unknown;
  }
  const outcome missing = run(k_works, {"SHOAL_CONFIG=/nonexistent/shoal.toml"});
  EXPECT_TRUE(missing.has("/nonexistent/shoal.toml")) << missing;
}

}  // namespace

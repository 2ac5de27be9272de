// SPDX-License-Identifier: Apache-2.0
// Settings as a user of a program meets them: unknown names, wrong values, the configuration file, precedence.
#include "base/settings.hpp"

#include "tests/cluster/job_process.hpp"

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

TEST(settings_of_a_job, wrong_values_are_refused_with_range_and_origin) {
  for (const auto& [variable, words] :
       {std::pair{"SHOAL_WORKERS=many", "the setting workers must be"}, std::pair{"SHOAL_WORKERS=-1", "'-1'"},
        std::pair{"SHOAL_WORKERS=100000", "SHOAL_WORKERS in the environment"},
        std::pair{"SHOAL_BUFFER=1", "the setting buffer"}, std::pair{"SHOAL_DIRECT=perhaps", "the setting direct"},
        std::pair{"SHOAL_STACK=1", "the setting stack"}, std::pair{"SHOAL_STACKS=", "the setting stacks"},
        std::pair{"SHOAL_SEGMENT=9E", "the setting segment"}, std::pair{"SHOAL_NODES=0", "the setting nodes"}}) {
    for (const auto& command : {k_works, launch({"-n", "2"}, k_works)}) {
      const bool overridden = command != k_works && std::string(variable).starts_with("SHOAL_DIRECT");
      if (overridden) continue;  // the command says --direct itself
      const outcome got = run(command, {variable}, 20);
      EXPECT_EQ(got.status.signal, 0) << variable << ": " << got;
      EXPECT_TRUE(got.status.code == 1 || got.status.code == 2) << variable << ": " << got;
      EXPECT_TRUE(got.has(words)) << variable << ": " << got;
    }
  }
}

TEST(settings_of_a_job, the_command_line_wins_and_its_mistakes_are_errors) {
  EXPECT_TRUE(run({program("cluster_faults"), "works", "--shoal-nodes=3"}, {"SHOAL_NODES=2"}).has("works on 3"));
  const outcome unknown = run({program("cluster_faults"), "works", "--shoal-workres=3"});
  EXPECT_EQ(unknown.status.code, 1) << unknown;
  EXPECT_TRUE(unknown.has("did you mean workers?")) << unknown;
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

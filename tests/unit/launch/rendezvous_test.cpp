// SPDX-License-Identifier: Apache-2.0
// What each launcher that is here tells. Under those of MPI this test program is started once more, to play a node.
#include "launch/rendezvous.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "hub_callers.hpp"
#include "launch/pmi2_rendezvous.hpp"
#include "machine/library.hpp"
#include "machine/process.hpp"

namespace shoal::launch {
namespace {

// Variables that one test sets and no other sees.
class meetings : public testing::Test {
protected:
  void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    set_.insert(name);
  }
  ~meetings() override {
    for (const char* name : set_) ::unsetenv(name);
    ::unsetenv(k_hub_variable);
  }
  std::set<const char*> set_;
};

const std::string k_place = std::string(32, '1') + "@127.0.0.1:4711";

TEST_F(meetings, without_a_launcher_there_is_none) { EXPECT_FALSE(find_rendezvous()); }

TEST_F(meetings, shoal_run_tells_all) {
  set(k_hub_variable, "node=1 nodes=3 hub=" + k_place);
  for (int again = 0; again < 2; ++again) {
    const auto met = find_rendezvous();
    ASSERT_TRUE(met);
    EXPECT_STREQ(met->by(), "shoal run");
    EXPECT_EQ(met->node(), 1U);
    EXPECT_EQ(met->nodes(), 3U);
    EXPECT_EQ(met->hub(), k_place);
  }
}

TEST_F(meetings, a_place_that_contradicts_itself_is_a_sentence) {
  for (const char* wrong : {"node=3 nodes=3 hub=x", "node=x nodes=3 hub=x", "nodes=3 hub=x", "node= nodes=3 hub=x"}) {
    set(k_hub_variable, wrong);
    EXPECT_THROW(find_rendezvous(), error) << wrong;
  }
}

TEST_F(meetings, slurm_and_hydra_are_told_apart) {
  EXPECT_FALSE(shows_pmi2());
  for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) set(name, "1");
  EXPECT_FALSE(shows_pmi2()) << "any hydra's";
  set("SLURM_JOB_ID", "7");
  set("SLURM_STEP_ID", "0");
  set("SLURM_PROCID", "1");
  EXPECT_FALSE(shows_pmi2()) << "hydra's within an allocation";
  set("PMI_JOBID", "7.0");
  EXPECT_TRUE(shows_pmi2());
  set("SLURM_PROCID", "0");
  EXPECT_FALSE(shows_pmi2()) << "the place is that of another process";
  set("SLURM_PROCID", "1");
  set("HYDI_CONTROL_FD", "9");
  EXPECT_FALSE(shows_pmi2());
}

// What a node gives: nothing, or some bytes, zeros among them.
std::vector<std::byte> part_given(std::uint32_t node, std::uint32_t round) {
  return std::vector<std::byte>((node + round) % 3 * 1000, static_cast<std::byte>(node));
}

bool parts_are_right(rendezvous& met, std::uint32_t round) {
  const auto all = met.exchange(part_given(met.node(), round));
  bool right = all.has_value() && all->size() == met.nodes();
  for (std::uint32_t n = 0; right && n < met.nodes(); ++n) right = (*all)[n] == part_given(n, round);
  return right;
}

// Played by the processes that the other tests start.
TEST(rendezvous_node, DISABLED_plays_its_part) {
  std::ostringstream line;
  try {
    const auto met = find_rendezvous();
    if (!met) {
      line << "met nobody\n";
    } else {
      const std::string first = met->share("word-of-" + std::to_string(met->node()));
      const std::string second = met->share(k_place);
      line << met->by() << " node " << met->node() << " of " << met->nodes() << (met->one_machine() ? " here" : "")
           << " heard " << first << " and " << (second == k_place ? "the place" : second);
      for (std::uint32_t round = 0; round < 2; ++round) line << (parts_are_right(*met, round) ? ", got all parts" : "");
      line << "\n";
    }
  } catch (const error& e) {
    line << "failed: " << e.what() << "\n";
  }
  std::cout << line.str() << std::flush;
}

std::string output_under(std::vector<std::string> launcher) {
  for (const char* word : {"--gtest_also_run_disabled_tests", "--gtest_brief=1",
                           "--gtest_filter=rendezvous_node.DISABLED_plays_its_part"}) {
    if (word == std::string("--gtest_also_run_disabled_tests")) launcher.push_back(machine::own_executable());
    launcher.emplace_back(word);
  }
  machine::spawn_request request;
  request.arguments = std::move(launcher);
  // PMIx itself leaves some bytes to the end of the process.
  request.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "ASAN_OPTIONS=detect_leaks=0"};
  testing::internal::CaptureStdout();
  const auto how = machine::spawn(request).reap();
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(how.clean()) << machine::describe(how) << "\n" << text;
  return text;
}

bool is_there(const std::string& program) { return machine::find_program(program) != program; }

bool has_pmix_plugin() {
  for (const std::string& folder : machine::plugin_folders(""))
    if (std::filesystem::exists(folder + "/libshoal_launch_pmix.so")) return true;
  return false;
}

TEST(rendezvous, by_pmix_all_hear_node_0) {
  if (!is_there("mpirun.openmpi") || !has_pmix_plugin()) GTEST_SKIP() << "no Open MPI or no PMIx here";
  const std::string text = output_under({"mpirun.openmpi", "--oversubscribe", "-n", "3"});
  for (const char* node : {"0", "1", "2"})
    EXPECT_TRUE(has(text, std::string("PMIx node ") + node +
                              " of 3 here heard word-of-0 and the place, got all parts, got all parts\n"))
        << text;
}

TEST(rendezvous, by_slurm_all_hear_node_0) {
  if (std::getenv("SLURM_CONF") == nullptr) GTEST_SKIP() << "not within tests/cluster/slurm.sh";
  for (const auto& [mpi, by] : {std::pair{"--mpi=pmi2", "PMI-2"}, std::pair{"--mpi=pmix", "PMIx"}}) {
    if (by == std::string("PMIx") && !has_pmix_plugin()) continue;
    const std::string text = output_under({"srun", "-n", "2", mpi});
    for (const char* node : {"0", "1"})
      EXPECT_TRUE(has(text, std::string(by) + " node " + node + " of 2 here heard word-of-0 and the place" +
                                (by == std::string("PMIx") ? ", got all parts, got all parts\n" : "\n")))
          << text;
  }
  EXPECT_TRUE(has(output_under({"srun", "-n", "2", "--mpi=none"}), "met nobody"));
}

TEST(rendezvous, an_mpi_that_speaks_pmi_1_is_left_to_itself) {
  if (!is_there("mpirun.mpich")) GTEST_SKIP() << "no MPICH here";
  const std::string text = output_under({"mpirun.mpich", "-n", "2"});
  std::size_t times = 0;
  for (std::size_t at = text.find("met nobody"); at != std::string::npos; at = text.find("met nobody", at + 1)) ++times;
  EXPECT_EQ(times, 2U) << text;
}

}  // namespace
}  // namespace shoal::launch

// SPDX-License-Identifier: Apache-2.0
// Jobs that are killed at random moments while they write checkpoints, and go on: each restart checks all elements and
// that nothing is lost that was said to be whole. SHOAL_STRESS_SEED repeats the moments and victims of a run.
#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/cluster/folder.hpp"
#include "tests/cluster/job_process.hpp"

namespace {

using shoal::test::job_process;
using shoal::test::launch;
using shoal::test::program;

// The number after the last `word` of the output; 0: none.
std::uint64_t last_number(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind("\n" + word + " ");
  return at == text.npos ? 0 : std::strtoull(text.c_str() + at + word.size() + 2, nullptr, 10);
}

class checkpoint_kill : public testing::Test {
protected:
  checkpoint_kill() : seed_(seed_of()), random_(seed_) { std::cout << "SHOAL_STRESS_SEED=" << seed_ << "\n"; }

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  // Starts the job again and again, and kills it.
  void kill_times(int times) {
    std::uint64_t whole = 0;  // the last round that a job has said to be saved
    for (int i = 0; i < times; ++i) {
      const unsigned nodes = 1 + below(3);
      job_process job(command(nodes, "1000000"));
      ASSERT_TRUE(job.says("node ", static_cast<int>(nodes), 60)) << job.text();
      std::this_thread::sleep_for(std::chrono::microseconds(below(250'000)));
      const auto processes = shoal::test::processes_in(job.text());
      ASSERT_EQ(processes.size(), nodes);
      const unsigned victim = below(nodes + 1);
      for (const auto& [node, process] : processes)
        if (victim == nodes || static_cast<unsigned>(node) == victim) ::kill(process, SIGKILL);
      const auto end = job.wait();
      ASSERT_TRUE(end.in_time) << end;
      EXPECT_TRUE(shoal::test::all_gone_within(processes, 10));
      check(end, whole);
    }
    const auto last = shoal::test::run(command(2, std::to_string(whole + 3)));
    EXPECT_TRUE(last.status.clean()) << last;
    check(last, whole);
    EXPECT_EQ(whole, last_number("\n" + last.text, "whole"));
    EXPECT_GE(whole, 3U);
  }

private:
  static std::uint64_t seed_of() {
    const char* given = std::getenv("SHOAL_STRESS_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }
  std::vector<std::string> command(unsigned nodes, const std::string& rounds) const {
    return launch({"--restart", "-w", "1", "-n", std::to_string(nodes)},
                  {program("cluster_checkpoints"), folder_ / "c", rounds});
  }
  static void check(const shoal::test::outcome& job, std::uint64_t& whole) {
    const std::string text = "\n" + job.text;
    ASSERT_FALSE(job.has("wrong ") || job.has("damaged")) << job;
    const std::uint64_t restored = last_number(text, "restored");
    EXPECT_GE(restored, whole) << job;  // a checkpoint may have become whole before the job could say so
    EXPECT_LE(restored, whole + 2) << job;
    whole = std::max(restored, last_number(text, "whole"));
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  shoal::test::folder folder_;
};

TEST_F(checkpoint_kill, a_run_killed_at_any_moment_leaves_a_whole_checkpoint) { kill_times(8); }
TEST_F(checkpoint_kill, a_run_killed_200_times_leaves_a_whole_checkpoint_each_time) { kill_times(200); }

class restart : public testing::Test {
protected:
  shoal::test::folder folder_;
};

TEST_F(restart, a_job_is_started_again_after_the_loss_of_a_node) {
  job_process job(launch({"--restart=2", "-n", "2", "-w", "1"}, {program("cluster_checkpoints"), folder_ / "c", "8"}));
  ASSERT_TRUE(job.says("whole 1\n", 1, 60)) << job.text();
  ::kill(shoal::test::processes_in(job.text())[1], SIGKILL);
  const auto end = job.wait();
  EXPECT_TRUE(end.status.clean()) << end;
  EXPECT_TRUE(end.has("started again, from its newest checkpoint; it may be 1 more time")) << end;
  EXPECT_GE(last_number("\n" + end.text, "restored"), 1U) << end;
  EXPECT_EQ(last_number("\n" + end.text, "whole"), 8U) << end;
}

TEST_F(restart, a_job_that_fails_by_itself_is_not_started_again) {
  const auto end = shoal::test::run(launch({"--restart=5", "-n", "2"}, {program("cluster_checkpoints")}));
  EXPECT_EQ(end.status.shell_code(), 2) << end;
  EXPECT_FALSE(end.has("started again")) << end;
}

TEST_F(restart, bad_numbers_are_refused) {
  for (const char* count : {"--restart=x", "--restart=-1", "--restart=1001", "--restart=1.5"})
    EXPECT_EQ(shoal::test::run(launch({count}, {"/bin/true"})).status.shell_code(), 2) << count;
  EXPECT_TRUE(
      shoal::test::run(launch({"--restart=1", "--transport", "mpi"}, {"/bin/true"})).has("not for transport mpi"));
}

TEST_F(restart, a_file_limit_is_an_error_and_the_old_checkpoint_stays) {
  const std::vector<std::string> what{program("cluster_checkpoints"), folder_ / "c", "3"};
  ASSERT_TRUE(shoal::test::run(launch({"-n", "2", "-w", "1"}, what)).status.clean());
  const std::vector<std::string> more{what[0], what[1], "5"};
  const auto refused = shoal::test::run(
      launch({"--restart", "-n", "2", "-w", "1"}, {program("cluster_checkpoints"), folder_ / "c", "5", "1000000"}));
  EXPECT_FALSE(refused.status.clean()) << refused;
  EXPECT_TRUE(refused.has("was not written, and earlier ones stay") && refused.has("ulimit -f")) << refused;
  const auto on = shoal::test::run(launch({"--restart", "-n", "1", "-w", "1"}, more));
  EXPECT_TRUE(on.status.clean() && on.has("restored 3")) << on;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// `shoal trace`: how it ends, what it refuses, and what --read finds in a folder again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::command_path;
using shoal::tests::run_command;
using shoal::tests::run_line;

class trace_command : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_NE(command_path(), "") << "build the target shoal_command first";
    folder_ = std::filesystem::path(testing::TempDir()) / ("trace_command_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  answer trace(const std::string& words) const {
    return run_command("trace --folder '" + path("traces") + "' " + words);
  }
  // A shell's line in the folder, in which $SHOAL is the command.
  answer in_folder(const std::string& line) const {
    return run_line("cd '" + folder_.string() + "'; SHOAL='" + command_path() + "'; { " + line + "; } 2>&1");
  }
  static std::string bfs(const std::string& words) {
    return "-- '" + command_path() + "' bfs -w 1 --kronecker 12 " + words;
  }

  std::filesystem::path folder_;
};

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(trace_command, has_the_status_of_its_program) {
  const answer failed = trace("-- false");
  EXPECT_EQ(failed.status, 1) << failed.text;
  EXPECT_TRUE(failed.has("the program exited with status 1")) << failed.text;
  EXPECT_TRUE(failed.has("has left no trace")) << failed.text;
  const answer killed = trace("-- sh -c 'kill -SEGV $$'");
  EXPECT_EQ(killed.status, 128 + 11) << killed.text;
  EXPECT_TRUE(killed.has("the program was killed by signal 11 (SIGSEGV)")) << killed.text;
  const answer without = trace("-- true");
  EXPECT_EQ(without.status, 2) << without.text;
}

TEST_F(trace_command, refuses_a_number_of_events_before_the_program_starts) {
  for (const char* const events : {"abc", "0", "12x", "4T"}) {
    const answer got = trace(std::string("--events ") + events + " -- touch '" + path("started") + "'");
    EXPECT_EQ(got.status, 2) << got.text;
    for (const char* const part : {"--events", "from 1K to 1G", "256K", events}) EXPECT_TRUE(got.has(part)) << got.text;
    EXPECT_FALSE(std::filesystem::exists(path("started"))) << events;
  }
}

TEST_F(trace_command, reads_samples_again_or_says_that_there_are_none) {
  ASSERT_EQ(trace(bfs("--roots 1")).status, 0);
  for (const std::string& option : {std::string("--samples"), "--folded '" + path("none.txt") + "'"}) {
    const answer none = trace("--read " + option);
    EXPECT_EQ(none.status, 2) << none.text;
    EXPECT_TRUE(none.has("have no samples; run the program with --samples")) << none.text;
  }
  EXPECT_FALSE(std::filesystem::exists(path("none.txt")));
  const answer run = trace("--samples --folded '" + path("run.txt") + "' " + bfs("--roots 200"));
  ASSERT_EQ(run.status, 0) << run.text;
  const answer again = trace("--read --samples --folded '" + path("again.txt") + "'");
  EXPECT_EQ(again.status, 0) << again.text;
  EXPECT_TRUE(again.has("functions, by")) << again.text;
  EXPECT_NE(text_of(path("run.txt")), "");
  EXPECT_EQ(text_of(path("run.txt")), text_of(path("again.txt")));
}

TEST_F(trace_command, reads_the_kernels_events_again_or_says_that_there_are_none) {
  ASSERT_EQ(trace(bfs("--roots 1")).status, 0);
  const answer none = trace("--read --kernel");
  EXPECT_EQ(none.status, 2) << none.text;
  EXPECT_TRUE(none.has("has no events of the kernel; run the program with --kernel")) << none.text;
  std::ofstream(path("traces/kernel.tsv")) << "something else\n";
  EXPECT_EQ(trace("--read").status, 2);
  const answer run = trace("--kernel --perfetto '" + path("run.json") + "' " + bfs("--roots 200"));
  ASSERT_EQ(run.status, 0) << run.text;
  if (run.has("without the kernel's events")) {
    EXPECT_FALSE(std::filesystem::exists(path("traces/kernel.tsv")));  // nor what an earlier run has left
    GTEST_SKIP() << run.text.substr(run.text.find("without the kernel's events"), 200);
  }
  const answer again = trace("--read --perfetto '" + path("again.json") + "'");
  EXPECT_EQ(again.status, 0) << again.text;
  EXPECT_TRUE(run.has("the kernel took")) << run.text;
  EXPECT_TRUE(again.has("the kernel took")) << again.text;
  EXPECT_EQ(text_of(path("run.json")), text_of(path("again.json")));
}

TEST_F(trace_command, shows_what_there_is_when_it_is_interrupted) {
  const answer got = in_folder(
      "env --default-signal=INT timeout --preserve-status --foreground -s INT 3 $SHOAL trace --folder traces " +
      bfs("--roots 1000000"));
  EXPECT_EQ(got.status, 130) << got.text;
  EXPECT_TRUE(got.has("the program was interrupted")) << got.text;
  EXPECT_TRUE(got.has("on 1 node with 1 worker")) << got.text;
}

// The first run goes on until the file `end` is there.
TEST_F(trace_command, two_runs_at_once_have_their_own_folders) {
  const std::string first =
      " -- sh -c 'touch begun; while [ ! -e end ]; do sleep 0.05; done' & "
      "while [ ! -e begun ]; do sleep 0.05; done; ";
  const answer unnamed =
      in_folder("$SHOAL trace" + first + "$SHOAL trace " + bfs("--roots 1") + "; echo status $?; touch end; wait");
  EXPECT_TRUE(unnamed.has("status 0")) << unnamed.text;
  EXPECT_TRUE(unnamed.has("the traces of this one are in shoal-trace-2")) << unnamed.text;
  EXPECT_EQ(in_folder("$SHOAL trace --read --folder shoal-trace-2").status, 0);
  const answer named = in_folder("rm begun end; $SHOAL trace --folder a" + first +
                                 "$SHOAL trace --folder a -- true; echo status $?; touch end; wait");
  EXPECT_TRUE(named.has("status 2")) << named.text;
  EXPECT_TRUE(named.has("another run of `shoal trace` writes into the folder a")) << named.text;
  const answer later = in_folder("$SHOAL trace " + bfs("--roots 1"));  // the first has ended: its folder is free
  EXPECT_EQ(later.status, 0) << later.text;
  EXPECT_FALSE(later.has("another run")) << later.text;
}

}  // namespace

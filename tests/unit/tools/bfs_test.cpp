// SPDX-License-Identifier: Apache-2.0
// `shoal bfs` as a user meets it: what it says, what it writes, and how it refuses bad input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/tools/run_command.hpp"

namespace {

namespace fs = std::filesystem;

using shoal::tests::answer;

class bfs_command : public testing::Test {
protected:
  bfs_command() : folder_(fs::temp_directory_path() / ("shoal-bfs-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~bfs_command() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static answer run(const std::string& arguments, const std::string& redirect = "2>&1") {
    return shoal::tests::run_command("bfs " + arguments, redirect);
  }

  static void expect_refused(const std::string& arguments, const std::string& said) {
    const answer got = run(arguments);
    EXPECT_EQ(got.status, 2) << arguments << ": " << got.text;
    EXPECT_TRUE(got.has(said)) << arguments << ": " << got.text;
  }

private:
  fs::path folder_;
};

TEST_F(bfs_command, help_has_an_example) {
  const answer got = run("--help");
  EXPECT_EQ(got.status, 0);
  EXPECT_TRUE(got.has("Example:") && got.has("--kronecker") && got.has("--no-validate")) << got.text;
}

TEST_F(bfs_command, measures_and_validates_each_root_in_all_forms) {
  for (const std::string how :
       {"-w 2", "-w 1 --form simple", "-n 2 -w 1", "-n 2 -w 1 --direct off",
        "-n 2 -w 1 --transport inproc --direct off", "-w 2 --direction top-down", "-n 2 -w 1 --direction bottom-up"}) {
    const answer got = run("--kronecker 8 --roots 3 --json - " + how, "2>/dev/null");
    ASSERT_EQ(got.status, 0) << how << got.text;
    const auto object = nlohmann::json::parse(got.text);
    EXPECT_EQ(object.at("checks").at("validated"), true) << how;
    EXPECT_EQ(object.at("checks").at("edges_counted"), true) << how;
    EXPECT_EQ(object.at("metrics").at("root_mteps").at("values").size(), 3U);
    EXPECT_GT(object.at("metrics").at("mteps").at("median"), 0.0);
    EXPECT_GT(object.at("metrics").at("construction_s").at("median"), 0.0);
  }
}

TEST_F(bfs_command, mteps_is_the_harmonic_mean_over_roots) {
  const answer got = run("--uniform 8 --roots 5 -w 1 --json -", "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto metrics = nlohmann::json::parse(got.text).at("metrics");
  double inverse = 0;
  for (const double v : metrics.at("root_mteps").at("values")) inverse += 1 / v / 5;
  EXPECT_NEAR(metrics.at("mteps").at("median").get<double>(), 1 / inverse, 1e-6 / inverse);
}

TEST_F(bfs_command, without_validation_says_nothing_of_checks) {
  const answer got = run("--kronecker 8 --roots 2 -w 1 --no-validate --json -", "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto object = nlohmann::json::parse(got.text);
  EXPECT_FALSE(object.at("checks").contains("validated"));
  EXPECT_GT(object.at("metrics").at("mteps").at("median"), 0.0);
}

TEST_F(bfs_command, writes_the_tree_and_says_what_it_found) {
  const std::string graph = write("names.txt",
                                  "# shoal graph directed vertices 4 edges 3\n# shoal names\n# apple\n# pear\n# plum\n"
                                  "# fig\n0 1\n1 2\n3 0\n");
  const answer got = run(graph + " --root apple --tree " + path("tree") + " -w 1");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("apple reaches 3 of 4 vertices, in 2 levels: 1, 1, 1.")) << got.text;
  EXPECT_TRUE(got.has("The deepest chain: plum -> pear -> apple")) << got.text;
  EXPECT_TRUE(read(path("tree")).ends_with("apple apple 0\npear apple 1\nplum pear 2\n")) << read(path("tree"));
  EXPECT_TRUE(run(graph + " --root apple --directed reverse -w 1").has("The deepest chain: fig -> apple"));
  EXPECT_TRUE(run(graph + " --root apple --directed both -w 1").has("apple reaches 4 of 4"));
}

TEST_F(bfs_command, says_what_a_file_that_does_not_say_counts_as) {
  const std::string silent = write("silent.txt", "0 1\n1 2\n");
  const answer both = run(silent + " --root 2 -w 1");
  EXPECT_TRUE(both.has("2 reaches 3 of 3") && !both.has("does not declare")) << both.text;
  const answer forward = run(silent + " --root 2 -w 1 --directed forward");
  EXPECT_TRUE(forward.has("2 reaches 1 of 3") &&
              forward.has("silent.txt: does not declare whether its graph is directed"))
      << forward.text;
  const answer told = run(write("told.txt", "# Directed graph: told.txt\n0 1\n") + " --root 1 -w 1 --directed reverse");
  EXPECT_TRUE(told.has("1 reaches 2 of 2") && !told.has("does not declare")) << told.text;
}

TEST_F(bfs_command, compact_ids_are_the_names) {
  const std::string graph = write("sparse.txt", "900000000000 7\n7 55\n");
  EXPECT_TRUE(run(graph + " --compact-ids --root 55 -w 1").has("The deepest chain: 900000000000 -> 7 -> 55"));
}

TEST_F(bfs_command, refuses_bad_files_with_the_place) {
  expect_refused(path("missing.txt"), "cannot be opened");
  expect_refused(path("missing.txt") + " -n 2 -w 1", "cannot be opened");
  expect_refused(write("empty.txt", ""), "is empty");
  expect_refused(write("comments.txt", "# nothing\n"), "contains no edge");
  expect_refused(write("bad.txt", "0 1\n1 x\n"), "bad.txt:2: ");
  expect_refused(write("negative.txt", "0 1\n1 -4\n"), "negative.txt:2: ");
  expect_refused(write("range.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 2\n3 9\n"),
                 "range.mtx:4: vertex 9 is out of range");
  expect_refused(write("cut.txt.zst", std::string("\x28\xb5\x2f\xfd\x24", 5)), "cut.txt.zst: zstd data is truncated");
  expect_refused(write("loop.txt", "5 5\n"), "nothing to search");
}

TEST_F(bfs_command, a_file_that_promises_more_than_there_is_memory_is_a_failure) {
  const answer got = run(write("absurd.mtx",
                               "%%MatrixMarket matrix coordinate pattern symmetric\n"
                               "99999999999999 99999999999999 9\n"));
  EXPECT_EQ(got.status, 1) << got.text;
  EXPECT_TRUE(got.has("absurd.mtx:2: 99999999999999 vertices") && got.has("there are")) << got.text;
}

TEST_F(bfs_command, refuses_unknown_roots_with_the_nearest_names) {
  const std::string graph = write("names.txt",
                                  "# shoal graph directed vertices 2 edges 1\n# shoal names\n# libc6\n"
                                  "# bash\n1 0\n");
  expect_refused(graph + " --root libc7", "no vertex is named 'libc7'; the nearest");
  expect_refused(graph + " --root libc7 -n 2 -w 1", "no vertex is named 'libc7'; the nearest");
  expect_refused("--kronecker 5 --root 99", "the graph has vertices from 0 to 31");
  expect_refused("--kronecker 5 --root x", "give a number from 0 to 31");
}

TEST_F(bfs_command, refuses_absurd_sizes_with_what_there_is) {
  for (const char* arguments : {"--kronecker 60", "--kronecker 200", "--uniform 45 --edge-factor 1"}) {
    expect_refused(arguments, "this machine has");
    expect_refused(arguments, " fits");
  }
  for (const char* arguments :
       {"--kronecker 0", "--kronecker -4", "--uniform x", "--kronecker 5 --roots 0", "--kronecker 5 --edge-factor -1",
        "--kronecker 5 --edge-factor 99999", "--kronecker 5 -n 0", "--kronecker 5 -w 0", "--kronecker 5 --seed -1"})
    expect_refused(arguments, "shoal: ");
}

TEST_F(bfs_command, a_number_out_of_range_is_answered_with_the_option_and_the_range) {
  for (const std::string seed : {"-1", "18446744073709551616"})
    expect_refused("--kronecker 5 --seed=" + seed,
                   "shoal: --seed is " + seed + "; it must be in 0 to 18446744073709551615; see");
  for (const std::string seed : {"1.5", "x", "1e6"})
    expect_refused("--kronecker 5 --seed=" + seed,
                   "shoal: --seed takes a number from 0 to 18446744073709551615, written "
                   "in digits, and '" +
                       seed + "' is none; see");
  expect_refused("--kronecker 5 --roots=0", "shoal: --roots is 0; it must be in 1 to 1048576; see");
  expect_refused("--kronecker 5 -w -1", "shoal: --workers is -1; it must be in 1 to 1024; see");
  EXPECT_EQ(run("--kronecker 5 -w 1 --seed=18446744073709551615").status, 0);
}

TEST_F(bfs_command, refuses_options_that_do_not_fit_together) {
  const std::string directed =
      write("directed.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 2\n");
  const std::string undirected = write("undirected.txt", "# Undirected graph\n0 1\n");
  expect_refused("", "nothing to search");
  expect_refused("--kronecker 5 " + directed, "only one graph");
  expect_refused("--kronecker 5 --uniform 5", "only one graph");
  expect_refused("--kronecker 5 --demo", "uses its own graphs");
  expect_refused("--kronecker 5 --directed both", "needs a file");
  expect_refused("--kronecker 5 --compact-ids", "needs a file");
  expect_refused("--kronecker 5 --form simple --direction top-down", "needs --form fast");
  expect_refused("--kronecker 5 --drection auto", "did you mean '--direction'?");
  expect_refused(directed + " --direction bottom-up", "--directed both");
  expect_refused(undirected + " --directed reverse", "says that its graph is undirected");
  expect_refused(write("snap.txt", "# Undirected graph: snap.txt\n0 1\n") + " --directed reverse",
                 "says that its graph is undirected");
  EXPECT_EQ(run(directed + " --direction bottom-up --directed both -w 1").status, 0);
}

TEST_F(bfs_command, results_that_cannot_be_written_are_refused_before_the_work) {
  for (const char* option : {"--tree ", "--json "}) {
    for (const std::string& place : {std::string("/nonexistent-folder/x"), path("")}) {
      const answer got = run("--kronecker 5 -w 1 " + (option + place));
      EXPECT_EQ(got.status, 1) << option;
      EXPECT_TRUE(got.text.starts_with("shoal: cannot write")) << got.text;  // no table, no parameters before it
    }
  }
}

TEST_F(bfs_command, a_refused_run_leaves_no_empty_result) {
  const std::string kept = write("kept.json", "kept");
  EXPECT_EQ(run("missing.txt --json " + path("new.json")).status, 2);
  EXPECT_EQ(run("missing.txt --json " + kept).status, 2);
  EXPECT_FALSE(fs::exists(path("new.json")));
  EXPECT_EQ(read(kept), "kept");
}

TEST_F(bfs_command, demonstration_searches_the_real_graph_and_a_generated_one) {
  const answer got = run("--demo -n 2 -w 1 --transport inproc");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("49486 packages, 21809 of them directly.")) << got.text;
  EXPECT_TRUE(got.has("The deepest chain: libmaven-reporting-exec-java -> ")) << got.text;
  EXPECT_TRUE(got.has("harmonic mean")) << got.text;
  EXPECT_FALSE(got.has("WRONG")) << got.text;
}

}  // namespace

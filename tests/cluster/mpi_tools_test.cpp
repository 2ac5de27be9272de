// SPDX-License-Identifier: Apache-2.0
// Tests the tools for programs with many ranks per process: MPIX_Yield, what a debugger is told, profiles, and runs
// with several numbers of ranks.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cluster/mpi_program.hpp"

namespace {

using shoal::test::mpirun;
using shoal::test::outcome;
using shoal::test::run;

using words = std::vector<std::string>;

std::string source(const std::string& name) { return shoal::test::program(name); }

TEST(yield, lets_other_ranks_run) {
  for (const words& shape : {words{"--nfg", "2"}, words{"--nfg", "5", "-w", "2"}}) {
    const outcome got = run(mpirun(source("ranks_yield.c"), shape));
    EXPECT_TRUE(got.status.clean()) << got;
  }
}

class under_gdb : public testing::Test {
protected:
  void SetUp() override {
    if (!std::filesystem::exists(shoal::machine::find_program("gdb"))) GTEST_SKIP() << "gdb is not installed";
    const outcome tried = run({"gdb", "--batch", "-nx", "-ex", "run", "--args", "/bin/true"});
    if (!has(tried.text, "exited normally")) GTEST_SKIP() << "gdb may not trace programs here";
  }
  // What gdb says to these commands where the last rank of five has stopped.
  static std::string ask(words commands) {
    commands.insert(commands.begin(), "run");
    return tell("ranks_wait.c", {"--nfg", "5"}, commands);
  }
  // What gdb says to these commands, of which none has begun the program; blanks in a row as one.
  static std::string tell(const std::string& program, words shape, const words& commands, const words& arguments = {}) {
    const shoal::test::folder place;
    shape.insert(shape.end(), {"-n", "1", "--debug"});
    std::ofstream file(place / "commands");
    file << "set pagination off\nset confirm off\n";
    for (const std::string& c : commands) file << "echo == " << c << "\\n\n" << c << '\n';
    file << "echo == end\\n\nkill\nquit\n";
    file.close();
    std::string line = "exec";
    for (const std::string& word : mpirun(source(program), shape, arguments)) line += " '" + word + "'";
    const outcome got = run({"/bin/bash", "-c", line + " <" + (place / "commands")});
    EXPECT_TRUE(got.in_time) << got;
    std::string text = got.text;
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
  }
  // The answer to that command, up to the next one.
  static std::string answer(const std::string& all, const std::string& command) {
    const auto begin = all.find("== " + command + "\n");
    if (begin == std::string::npos) return "no answer to " + command + " in:\n" + all;
    return all.substr(begin, all.find("== ", begin + 3) - begin);
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(under_gdb, ranks_have_a_table_and_stacks) {
  const std::string all = ask({"shoal ranks", "shoal rank 0 bt", "bt", "shoal rank 2", "where", "shoal ranks",
                               "shoal rank 4", "shoal ranks bt", "shoal rank 9", "shoal rank", "shoal rank 0 up"});
  const std::string table = answer(all, "shoal ranks");
  for (const char* row : {"rank state in waits for peer tag\n", "\n0 waiting MPI_Recv a message 1 77\n",
                          "\n1 waiting MPI_Barrier the others\n", "\n2 waiting MPI_Ssend its receive 1 5\n",
                          "\n3 waiting MPI_Recv a message any any\n", "\n4 running thread 1\n"})
    EXPECT_TRUE(has(table, row)) << row << table;
  EXPECT_TRUE(has(answer(all, "shoal rank 0 bt"), "in await_message (from=")) << all;
  EXPECT_TRUE(has(answer(all, "bt"), "in stop_here ()")) << all;  // the thread is as it was
  EXPECT_TRUE(has(answer(all, "where"), "PMPI_Ssend")) << all;
  EXPECT_FALSE(has(answer(all, "where"), "stop_here")) << all;
  EXPECT_TRUE(has(all.substr(all.find("== where")), "\n4 running thread 1\n")) << all;  // though rank 2 is shown
  const std::string stacks = answer(all, "shoal ranks bt");
  for (const char* part : {"rank 1: waiting MPI_Barrier the others\n", "in PMPI_Barrier", "in PMPI_Ssend",
                           "rank 4: running thread 1\n", "in stop_here ()"})
    EXPECT_TRUE(has(stacks, part)) << part << stacks;
  EXPECT_TRUE(has(all, "there is no rank 9 here; ranks 0 to 4 are")) << all;
  EXPECT_TRUE(has(answer(all, "shoal rank"), "usage: shoal rank NUMBER [bt]")) << all;
}

TEST_F(under_gdb, the_program_goes_on_as_if_nobody_had_looked) {
  const std::string all = ask({"shoal rank 0", "continue"});
  EXPECT_TRUE(has(all, "rank 4 has called abort() in stop_here")) << all;
}

std::string count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return std::to_string(n);
}

// Before the first call of MPI, too. More copies than 64 are made known to gdb all at once.
TEST_F(under_gdb, a_breakpoint_is_hit_in_each_copy) {
  for (const words& shape : {words{"--nfg", "3"}, words{"--nfg", "3", "-w", "2"}}) {
    const std::string all =
        tell("ranks_debug.c", shape, {"break main", "run", "continue", "continue", "info breakpoints", "continue"});
    EXPECT_EQ(count(all, "main (argc=1"), "3") << all;
    EXPECT_TRUE(has(answer(all, "info breakpoints"), "already hit 3 times")) << all;
    EXPECT_TRUE(has(all, "exited normally")) << all;
    EXPECT_FALSE(has(all, "warning")) << all;
  }
  const std::string many = tell(
      "ranks_debug.c", {"--nfg", "70"},
      {"break ranks_debug.c:11", "run", "ignore 1 68", "continue", "info breakpoints", "continue", "print $_exitcode"});
  EXPECT_TRUE(has(answer(many, "continue"), "at ")) << many;
  EXPECT_TRUE(has(answer(many, "info breakpoints"), "already hit 70 times")) << many;
  EXPECT_TRUE(has(answer(many, "print $_exitcode"), "= 0\n")) << many;
}

TEST_F(under_gdb, a_variable_is_that_of_the_rank) {
  const std::string all =
      tell("ranks_debug.c", {"--nfg", "3"},
           {"break begin_rank", "run", "finish", "continue", "finish", "print of_rank", "print &of_rank",
            "output of_file", "continue", "shoal ranks print of_rank", "shoal ranks print &of_rank", "shoal rank 1",
            "print of_rank + of_file", "shoal ranks print no_such"});
  EXPECT_TRUE(has(answer(all, "print of_rank"), "= 101\n")) << all;
  EXPECT_TRUE(has(answer(all, "output of_file"), "201")) << all;
  EXPECT_TRUE(has(answer(all, "shoal ranks print of_rank"), " 0 100\n 1 101\n 2 0\n")) << all;
  const std::string address = answer(all, "print &of_rank");
  const auto at = address.find(" 0x");
  ASSERT_NE(at, std::string::npos) << all;
  EXPECT_TRUE(
      has(answer(all, "shoal ranks print &of_rank"), " 1" + address.substr(at, address.find(' ', at + 1) - at + 1)))
      << all;
  EXPECT_TRUE(has(answer(all, "print of_rank + of_file"), "= 302\n")) << all;
  EXPECT_TRUE(has(answer(all, "shoal ranks print no_such"), " 1 (No symbol")) << all;
}

TEST_F(under_gdb, it_stops_before_the_job_ends_early) {
  const std::string waits =
      tell("ranks_debug.c", {"--nfg", "3"}, {"run", "shoal ranks", "shoal rank 1 bt", "continue"}, {"wait"});
  EXPECT_TRUE(has(waits, "The job is about to end")) << waits;
  EXPECT_TRUE(has(answer(waits, "shoal ranks"), "\n1 waiting MPI_Recv a message 0 9\n")) << waits;
  EXPECT_TRUE(has(answer(waits, "shoal rank 1 bt"), "in main (argc=")) << waits;
  EXPECT_TRUE(has(answer(waits, "continue"), "exited with code 03")) << waits;
  const std::string aborts = tell("ranks_debug.c", {"--nfg", "3"}, {"run", "bt", "shoal ranks", "continue"}, {"abort"});
  EXPECT_TRUE(has(answer(aborts, "bt"), "PMPI_Abort")) << aborts;
  EXPECT_TRUE(has(answer(aborts, "bt"), "in main (argc=")) << aborts;
  EXPECT_TRUE(has(answer(aborts, "shoal ranks"), "\n1 running thread 1\n")) << aborts;
  EXPECT_TRUE(has(answer(aborts, "continue"), "exited with code 07")) << aborts;
  const std::string crashes = tell("ranks_debug.c", {"--nfg", "3"}, {"run", "print rank", "shoal ranks"}, {"crash"});
  EXPECT_TRUE(has(answer(crashes, "run"), "SIGSEGV")) << crashes;
  EXPECT_TRUE(has(answer(crashes, "print rank"), "= 1\n")) << crashes;
  EXPECT_TRUE(has(answer(crashes, "shoal ranks"), "\n1 running thread 1\n")) << crashes;
}

TEST_F(under_gdb, run_has_the_arguments_of_the_program) {
  const std::string all = tell(
      "ranks_debug.c", {"--nfg", "2"},
      {"tbreak main", "run", "print argc", "print argv[1]", "tbreak main", "run a 'b c'", "print argv[2]", "show args"},
      {"it"});
  EXPECT_TRUE(has(all.substr(0, all.find("== ")), "2 ranks of ")) << all;
  EXPECT_FALSE(has(all, "Reading symbols")) << all;
  EXPECT_TRUE(has(answer(all, "print argc"), "= 2\n")) << all;
  EXPECT_TRUE(has(answer(all, "print argv[1]"), "\"it\"")) << all;
  EXPECT_TRUE(has(answer(all, "print argv[2]"), "\"b c\"")) << all;
  EXPECT_TRUE(has(answer(all, "show args"), "\"a 'b c'\"")) << all;
}

TEST_F(under_gdb, fortran_has_its_main_program) {
  if (!std::filesystem::exists(shoal::machine::find_program("gfortran"))) GTEST_SKIP() << "gfortran is not installed";
  const std::string all = tell("ranks_debug.f90", {"--nfg", "2"},
                               {"break MAIN__", "run", "continue", "info breakpoints", "continue", "shoal ranks",
                                "shoal ranks print number", "shoal rank 0", "print of_rank::number"});
  EXPECT_TRUE(has(answer(all, "run"), "ranks_debug ()")) << all;
  EXPECT_TRUE(has(answer(all, "info breakpoints"), "already hit 2 times")) << all;
  EXPECT_TRUE(has(answer(all, "shoal ranks"), "\n1 running thread 1\n")) << all;
  EXPECT_TRUE(has(answer(all, "shoal ranks print number"), " 0 0\n 1 1\n")) << all;
  EXPECT_TRUE(has(answer(all, "print of_rank::number"), "= 0\n")) << all;
}

TEST(debugging, is_for_one_process) {
  const outcome got = run(mpirun(source("ranks_wait.c"), {"-n", "2", "--nfg", "3", "--debug"}));
  EXPECT_EQ(got.status.shell_code(), 2) << got;
  EXPECT_TRUE(got.has("give -n 1 --nfg 6 instead")) << got;
}

class profile_of_ranks : public testing::TestWithParam<words> {};

INSTANTIATE_TEST_SUITE_P(shapes, profile_of_ranks,
                         testing::Values(words{"-n", "1", "--nfg", "4"}, words{"-n", "2", "--nfg", "2"},
                                         words{"-n", "1", "--nfg", "4", "-w", "2"}));

TEST_P(profile_of_ranks, is_what_they_did) {
  const shoal::test::folder place;
  words options = GetParam();
  options.push_back("--profile=" + (place / "p.json"));
  const outcome got = run(mpirun(source("ranks_traffic.c"), options));
  ASSERT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("profile of 4 ranks in ")) << got;
  EXPECT_TRUE(got.has("a copy of the program: ")) << got;
  std::ifstream file(place / "p.json");
  const auto read = nlohmann::json::parse(file);
  ASSERT_EQ(read["ranks"].size(), 4) << got;
  for (int i = 0; i < 4; ++i) {
    const auto& r = read["ranks"][static_cast<std::size_t>(i)];
    EXPECT_EQ(r["rank"], i);
    EXPECT_EQ(r["sent"], nlohmann::json::parse("[{\"to\": " + std::to_string((i + 1) % 4) +
                                               ", \"messages\": 15, \"bytes\": 10005}]"));
    EXPECT_EQ(r["calls"], 37) << r;
    EXPECT_GE(r["longest_receives"], 1) << r;
    EXPECT_GT(r["stack_bytes"], 4000) << r;
    if (i != 0) {
      EXPECT_GT(r["wait_seconds"], 0.04) << r;
    }
    for (const char* part : {"compute_seconds", "copy_seconds", "library_seconds", "ready_seconds"})
      EXPECT_GE(r[part], 0) << r;
  }
  EXPECT_GT(read["ranks"][0]["compute_seconds"], 0.04) << got;
  double waited = 0;  // for rank 0, of three ranks
  for (const auto& r : read["ranks"])
    for (const auto& [function, w] : r["waits"].items()) waited += w["seconds"].get<double>();
  EXPECT_GT(waited, 0.12) << got;
  EXPECT_GT(read["processes"][0]["copy_bytes"], 0);
  std::ifstream picture(place / "p.svg");
  std::string begin;
  std::getline(picture, begin);
  EXPECT_TRUE(begin.starts_with("<svg")) << begin;
}

TEST(profile, without_a_file_is_a_table) {
  const outcome got = run(mpirun(source("ranks_yield.c"), {"--nfg", "2", "--profile"}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("MPIX_Yield")) << got;
  EXPECT_FALSE(run(mpirun(source("ranks_yield.c"), {"--nfg", "2"})).has("profile of")) << got;
}

TEST(profile, may_have_a_blank_before_its_file) {
  const shoal::test::folder place;
  for (const char* const name : {"p.json", "p"}) {
    const outcome got = run(mpirun(source("ranks_yield.c"), {"--nfg", "2", "--profile", place / name}));
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(std::filesystem::exists(place / name)) << got;
  }
}

TEST(profile, in_a_folder_that_is_not_there_is_refused_at_the_start) {
  const outcome got = run(mpirun(source("ranks_yield.c"), {"--nfg", "2", "--profile=/no such folder/p.json"}));
  EXPECT_FALSE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("cannot write the profile to '/no such folder/p.json'")) << got;
}

TEST(sweep, runs_with_each_number_of_ranks) {
  const shoal::test::folder place;
  const outcome got = run(mpirun(source("ranks_traffic.c"), {"-np", "2", "--nfg", "1,2", "--repeat", "2", "--sweep",
                                                             place / "s.json", "--profile=" + (place / "p.json")}));
  ASSERT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("fastest")) << got;
  std::ifstream file(place / "s.json");
  const auto read = nlohmann::json::parse(file);
  ASSERT_EQ(read["runs"].size(), 2) << read;
  EXPECT_EQ(read["runs"][1]["ranks"], 4) << read;
  EXPECT_EQ(read["runs"][1]["seconds"].size(), 2) << read;
  for (const char* made : {"s.svg", "p.1.json", "p.2.json", "p.2.svg"})
    EXPECT_TRUE(std::filesystem::exists(place / made)) << made;
}

TEST(sweep, ends_with_the_status_of_the_first_that_fails) {
  const outcome got = run(mpirun(source("ranks_yield.c"), {"--nfg", "2,x"}));
  EXPECT_EQ(got.status.shell_code(), 2) << got;
  EXPECT_TRUE(got.has("--nfg 2,x: give the ranks of each process")) << got;
  const outcome failed = run({SHOAL_COMMAND, "mpirun", "--nfg", "1", "--repeat", "2", "--", "/bin/false"});
  EXPECT_EQ(failed.status.shell_code(), 1) << failed;
  EXPECT_TRUE(failed.has("failed with status 1")) << failed;
}

TEST(automatic_number, is_four_ranks_per_worker) {
  const outcome got = run(mpirun(source("ranks_traffic.c"), {"--nfg", "auto", "-w", "2", "--profile"}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("--nfg auto: 8 ranks in each process of 2 workers")) << got;
  EXPECT_TRUE(got.has("profile of 8 ranks in 1 process")) << got;
}

// Of what the runtime says at the end: the digest of the run.
std::string digest_of(const outcome& got) {
  const auto at = got.text.find(", run ");
  return at == std::string::npos ? "none in " + got.text : got.text.substr(at, 22);
}

TEST(simulated, ranks_of_many_nodes_take_virtual_time) {
  const words shape{"--transport", "sim", "-n", "16", "--nfg", "4"};
  const outcome got = run(mpirun(source("ranks_simulated.c"), shape));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("64 ranks")) << got;
  EXPECT_TRUE(got.has("simulated 16 nodes of 1 worker")) << got;
  EXPECT_EQ(digest_of(run(mpirun(source("ranks_simulated.c"), shape))), digest_of(got));
}

TEST(simulated, the_command_for_simulations_starts_this_mpirun) {
  words command{SHOAL_COMMAND,   "sim", "--nodes", "3",     "--workers", "2", "--faults",
                "slow(0-2,3,0)", "--",  "mpirun",  "--nfg", "2",         "--"};
  command.push_back(shoal::test::mpi_program(source("ranks_simulated.c")));
  const outcome got = run(command);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("6 ranks")) << got;
  EXPECT_TRUE(got.has("simulated 3 nodes of 2 workers")) << got;
}

TEST(simulated, what_cannot_be_is_refused) {
  for (const words& shape : {words{"--timeout", "5"}, words{"--nfg", "1,2"}, words{"--debug"}, words{"--profile"}}) {
    words options{"--transport", "sim"};
    options.insert(options.end(), shape.begin(), shape.end());
    const outcome got = run(mpirun(source("ranks_simulated.c"), options));
    EXPECT_EQ(got.status.shell_code(), 2) << got;
    EXPECT_TRUE(got.has("--transport sim is one process and one run")) << got;
  }
  const outcome many = run(mpirun(source("ranks_simulated.c"), {"-n", "300"}));
  EXPECT_EQ(many.status.shell_code(), 2) << many;
  EXPECT_TRUE(many.has("--transport sim simulates more")) << many;
}

// The ranks' messages are short and wait for each other: all of them are mail, where processes share memory.
TEST(trace, has_the_calls_of_ranks_their_messages_and_their_functions) {
  const shoal::test::folder files;
  words command{SHOAL_COMMAND,    "trace",     "--folder", files / "trace",    "--perfetto",
                files / "t.json", "--samples", "--folded", files / "t.folded", "--"};
  const words program = mpirun(source("ranks_traffic.c"), {"-n", "2", "--nfg", "2"});
  command.insert(command.end(), program.begin(), program.end());
  const outcome got = run(command);
  ASSERT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("\nMPI_Send                             60 ")) << got;
  EXPECT_TRUE(got.has("\nMPI_Recv                             40 ")) << got;
  EXPECT_TRUE(got.has("KiB from node")) << got;
  std::ifstream in(files / "t.json");
  const auto j = nlohmann::json::parse(in, nullptr, false);
  ASSERT_FALSE(j.is_discarded());
  std::map<int, std::string> callers;
  std::map<int, std::vector<std::pair<double, double>>> calls;
  std::size_t messages = 0;
  for (const auto& e : j["traceEvents"]) {
    const int line = e.contains("tid") ? e["tid"].get<int>() : 0;
    if (e["ph"] == "M" && e["name"] == "thread_name" && line >= 1'000'000) callers[line] = e["args"]["name"];
    if (e.value("cat", "") == "call")
      calls[line].emplace_back(e["ts"].get<double>(), e["ts"].get<double>() + e["dur"].get<double>());
    if (e["ph"] == "s") ++messages;
  }
  EXPECT_GE(messages, 30U);
  EXPECT_EQ(calls.size(), 4U);
  std::ifstream stacks(files / "t.folded");
  std::string main_of_rank;
  while (std::getline(stacks, main_of_rank) && main_of_rank.find(";main") == std::string::npos) continue;
  EXPECT_FALSE(main_of_rank.empty());  // rank 0 computes for 50 ms
  for (auto& [line, all] : calls) {
    EXPECT_TRUE(callers[line].starts_with("rank ")) << callers[line];
    EXPECT_GT(all.size(), 10U);
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i].first, all[i - 1].second - 0.002);
  }
}

}  // namespace

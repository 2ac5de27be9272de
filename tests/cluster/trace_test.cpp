// SPDX-License-Identifier: Apache-2.0
// Traces as a user meets them: of several nodes, of a program that is killed, read again, bad input.
#include <nlohmann/json.hpp>

#include "shoal/error.hpp"
#include "tests/cluster/job_process.hpp"

namespace {

using shoal::test::outcome;
using shoal::test::run;

class traces : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("shoal-trace-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> trace(const std::vector<std::string>& options,
                                 const std::vector<std::string>& program) const {
    std::vector<std::string> all{SHOAL_COMMAND, "trace", "--folder", file("trace")};
    all.insert(all.end(), options.begin(), options.end());
    if (!program.empty()) all.emplace_back("--");
    all.insert(all.end(), program.begin(), program.end());
    return all;
  }
  std::filesystem::path folder_;
};

std::vector<std::string> bfs(std::vector<std::string> more) {
  std::vector<std::string> all{SHOAL_COMMAND, "bfs"};
  if (std::ranges::find(more, "--kronecker") == more.end()) more.insert(more.end(), {"--kronecker", "12"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(traces, of_several_nodes_have_tasks_waits_messages_and_regions) {
  const outcome got = run(trace({"--report", file("t.html"), "--perfetto", file("t.json"), "--paraver", file("t")},
                                bfs({"-n", "2", "-w", "2", "--roots", "2", "--direct", "off"})));
  ASSERT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("on 2 nodes with 4 workers")) << got;
  EXPECT_TRUE(got.has("tasks wait for")) << got;
  EXPECT_TRUE(got.has("KiB from node")) << got;
  EXPECT_TRUE(got.has("kernels::bfs")) << got;  // names of the program's own code
  std::ifstream in(file("t.json"));
  const auto j = nlohmann::json::parse(in, nullptr, false);
  ASSERT_FALSE(j.is_discarded());
  std::set<int> nodes;
  std::set<std::string> regions;
  std::map<int, int> flows;
  std::map<int, double> sent;
  for (const auto& e : j["traceEvents"]) {
    if (e["ph"] == "X") nodes.insert(e["pid"].get<int>());
    if (e["ph"] == "b") regions.insert(e["name"]);
    if (e["ph"] == "s") sent[e["id"]] = e["ts"];
    if (e["ph"] != "f") continue;
    ++flows[e["id"].get<int>()];
    EXPECT_GE(e["ts"].get<double>(), sent.at(e["id"]));  // no message arrives before it was sent
  }
  EXPECT_EQ(nodes, (std::set<int>{0, 1}));
  EXPECT_TRUE(regions.contains("build the graph") && regions.contains("search") && regions.contains("validate"));
  EXPECT_GT(flows.size(), 10U);
  EXPECT_TRUE(std::filesystem::exists(file("t.prv")) && std::filesystem::exists(file("t.pcf")) &&
              std::filesystem::exists(file("t.row")));
  const outcome again = run(trace({"--read"}, {}));
  EXPECT_TRUE(again.has("on 2 nodes with 4 workers")) << again;
}

TEST_F(traces, of_benchmarks_without_a_job_are_left) {
  const outcome got =
      run(trace({}, {SHOAL_COMMAND, "bench", "spawn", "-w", "2", "--n", "12", "--seconds", "0.01", "--repeat", "1"}));
  ASSERT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("on 1 node with")) << got;
  EXPECT_TRUE(got.has("the main task")) << got;
}

TEST_F(traces, in_otf2_are_read_by_its_own_reader) {
  const outcome got =
      run(trace({"--otf2", file("otf2")}, bfs({"-n", "2", "-w", "2", "--roots", "2", "--direct", "off"})));
  if (got.has("does not write OTF2")) GTEST_SKIP() << "there is no OTF2";
  ASSERT_TRUE(got.status.clean()) << got;
  outcome read;
  try {
    read = run({"otf2-print", "-G", "-A", file("otf2/shoal.otf2")});
  } catch (const shoal::error&) {
    GTEST_SKIP() << "there is no otf2-print";
  }
  ASSERT_TRUE(read.status.clean()) << read;
  EXPECT_TRUE(read.has("worker 1")) << read;
  EXPECT_TRUE(read.has("kernels::bfs")) << read;
  const outcome events = run({"otf2-print", file("otf2/shoal.otf2")});
  ASSERT_TRUE(events.status.clean()) << events;
  const auto count = [&](const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = events.text.find(word); at != std::string::npos; at = events.text.find(word, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("\nENTER"), count("\nLEAVE"));
  EXPECT_GT(count("\nENTER"), 100U);
  EXPECT_EQ(count("\nMPI_SEND"), count("\nMPI_RECV"));
  EXPECT_GT(count("\nMPI_SEND"), 10U);
  EXPECT_TRUE(run(trace({"--otf2", file("otf2")}, {"true"})).has("exists"));
}

TEST_F(traces, of_a_program_that_is_killed_are_read_up_to_there) {
  std::vector<std::string> program{"timeout", "-s", "KILL", "1"};
  for (const std::string& word : bfs({"--kronecker", "14", "--roots", "1000000", "-w", "1"})) program.push_back(word);
  const outcome got = run(trace({}, program));
  EXPECT_FALSE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("node 0 did not end in order")) << got;
  EXPECT_FALSE(got.has(" 0 tasks from queues")) << got;
  EXPECT_TRUE(got.has("kernels::bfs")) << got;  // its file has the names
}

TEST_F(traces, the_oldest_events_are_kept_if_asked) {
  const outcome got = run(trace({"--events", "1K", "--full", "stop"}, bfs({"--roots", "50", "-w", "1"})));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("events are left out")) << got;
}

TEST_F(traces, what_cannot_be_done_is_said) {
  EXPECT_TRUE(run(trace({}, {})).has("give a program"));
  EXPECT_TRUE(run(trace({}, {"true"})).has("has left no trace"));
  EXPECT_TRUE(run(trace({"--read"}, {})).has("has no trace"));
  EXPECT_TRUE(run({SHOAL_COMMAND, "trace", "--read", "--folder", "/no/such/folder"}).has("cannot be read"));
  EXPECT_TRUE(run(trace({"--report", "/no/such/folder/t.html"}, {"true"})).has("/no/such/folder/t.html"));
  EXPECT_TRUE(run(trace({"--events", "many"}, bfs({}))).has("--events"));
  std::ofstream(file("trace/node-0-2-0.trace")) << "one";
  std::ofstream(file("trace/node-0-3-0.trace")) << "other";
  EXPECT_TRUE(run(trace({"--read"}, {})).has("traces of several runs"));
  std::filesystem::remove_all(file("trace"));
  std::filesystem::create_directory(file("trace"));
  std::ofstream(file("trace/node-0-1-0.trace")) << "rubbish";
  EXPECT_TRUE(run(trace({"--read"}, {})).has("is no trace of this version"));
  const outcome failing = run(trace({}, bfs({"--root", "-5"})));
  EXPECT_FALSE(failing.status.clean()) << failing;
}

}  // namespace

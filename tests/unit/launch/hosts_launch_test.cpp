// SPDX-License-Identifier: Apache-2.0
// Jobs without shared memory, by a remote shell that is a script: it forgets the host and runs the rest. The nodes are
// this test program once more, in the test that plays a node.
#include "launch/hosts_launch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "hub_callers.hpp"
#include "launch/remote_script.hpp"
#include "launch/rendezvous.hpp"
#include "machine/process.hpp"

namespace shoal::launch {
namespace {

namespace fs = std::filesystem;

constexpr int k_follower = 70;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// At once: several processes write to the same file.
void say(const std::string& line) {
  ASSERT_EQ(::write(2, line.data(), line.size()), static_cast<ssize_t>(line.size()));
}

class hosts_launch : public testing::TestWithParam<bool> {
protected:
  hosts_launch() {
    std::string name = (fs::temp_directory_path() / "shoal-hosts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::ofstream(folder_ / "shell") << "#!/bin/sh\necho \"$@\" >>" << folder_.string()
                                     << "/calls\nshift\nexec /bin/sh -c \"$*\"\n";
    fs::permissions(folder_ / "shell", fs::perms::owner_all);
  }
  ~hosts_launch() override { fs::remove_all(folder_); }

  // A job of this program's nodes.
  hosts_job job(const std::string& role, unsigned nodes = 3) const {
    hosts_job j;
    j.nodes = nodes;
    if (GetParam()) j.hosts = {"a", "b"};
    j.remote_shell = (folder_ / "shell").string();
    j.listen = "127.0.0.1";
    j.arguments = {machine::own_executable(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                   "--gtest_filter=hosts_node.DISABLED_plays_its_part"};
    j.environment = {"TEST_ROLE=" + role};
    return j;
  }
  // Its status, and what all said.
  std::pair<int, std::string> run(const hosts_job& j) const {
    std::fflush(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = launch_hosts(j);
    return {status, testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr()};
  }

  fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(shells, hosts_launch, testing::Bool(),
                         [](const auto& p) { return p.param ? "remote" : "here"; });

// Played by the processes that the other tests start.
TEST(hosts_node, DISABLED_plays_its_part) {
  const char* const role_text = std::getenv("TEST_ROLE");
  ASSERT_NE(role_text, nullptr);
  const std::string role = role_text;
  const auto met = find_rendezvous();
  ASSERT_TRUE(met);
  const std::uint32_t me = met->node();
  if (role == "absent" && me == 1) ::pause();
  try {
    control c(hub_place::parse(met->hub()), identity_of(me, met->nodes()), k_long_ns);
    c.exchange({});
    say("node " + std::to_string(me) + " of " + std::to_string(met->nodes()) + " is there\n");
    if (me == 1 && role == "exit") ::_exit(3);
    if (me == 1 && role == "die") std::raise(SIGKILL);
    if (me == 1 && role == "stop") {
      c.watch(0, -1);
      std::raise(SIGSTOP);
    }
    if (role == "work" || role == "status") {
      c.exchange({});
      c.leave();
      ::_exit(role == "status" && me == 2 ? 9 : 0);
    }
    const auto heard = news(c);
    say("node " + std::to_string(me) + ": " + (heard ? heard->why : "nothing") + "\n");
    ::_exit(heard && heard->signal != 0 ? 128 + heard->signal : k_follower);
  } catch (const error& e) {
    say("node " + std::to_string(me) + ": " + e.what() + "\n");
    ::_exit(1);
  }
}

TEST_P(hosts_launch, nodes_meet_work_and_leave) {
  const auto [status, text] = run(job("work"));
  EXPECT_EQ(status, 0) << text;
  for (const char* line : {"node 0 of 3 is there", "node 1 of 3 is there", "node 2 of 3 is there"})
    EXPECT_TRUE(has(text, line)) << text;
  if (GetParam()) {
    const std::string calls = content(folder_ / "calls");
    EXPECT_EQ(calls.substr(0, 2), "a ") << calls;
    EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 3);
    EXPECT_TRUE(has(calls, "\nb "));
    EXPECT_FALSE(has(calls, "@")) << "the secret is in no command line";
    EXPECT_FALSE(has(calls, "SHOAL_HUB"));
  }
}

TEST_P(hosts_launch, a_node_s_status_is_the_job_s) {
  const auto [status, text] = run(job("status"));
  EXPECT_EQ(status, 9) << text;
}

TEST_P(hosts_launch, a_node_that_ends_early_ends_the_job) {
  for (const auto& [role, status, words] : {std::tuple{"exit", 3, "exited with status 3"},
                                            std::tuple{"die", 128 + SIGKILL, "killed by signal 9 (SIGKILL)"}}) {
    const auto [got, text] = run(job(role));
    EXPECT_EQ(got, status) << text;
    EXPECT_TRUE(has(text, words)) << text;
    EXPECT_TRUE(has(text, "the others are told to leave")) << text;
    EXPECT_TRUE(has(text, "node 0: node 1 (host ")) << text;
    EXPECT_TRUE(has(text, "node 2: node 1 (host ")) << text;
  }
}

TEST_P(hosts_launch, a_node_that_is_stopped_ends_the_job_and_itself) {
  auto j = job("stop");
  j.silence_ns = 1000 * k_ms;
  const auto [status, text] = run(j);
  EXPECT_EQ(status, k_follower) << text;
  const auto pid = text.find("process ");
  ASSERT_NE(pid, std::string::npos) << text;
  const std::string stat = content("/proc/" + std::to_string(std::atoi(text.c_str() + pid + 8)) + "/stat");
  EXPECT_TRUE(stat.empty() || has(stat, ") Z")) << stat;
  EXPECT_TRUE(has(text, "has said nothing for 1 s: stopped, or its link is cut; what is left of the job is ended"))
      << text;
}

TEST_P(hosts_launch, a_node_that_does_not_come_is_named) {
  auto j = job("absent");
  j.start_ns = 2000 * k_ms;
  const auto [status, text] = run(j);
  EXPECT_EQ(status, 1) << text;
  EXPECT_TRUE(has(text, "node 0: node 1 has not started within 2 s")) << text;
}

TEST_P(hosts_launch, an_interrupt_reaches_all) {
  auto j = job("wait", 2);
  std::thread later([] {
    struct sigaction now {};
    do {  // before, the signal would end the test
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      ::sigaction(SIGTERM, nullptr, &now);
    } while (now.sa_handler == SIG_DFL);
    ::kill(::getpid(), SIGTERM);
  });
  const auto [status, text] = run(j);
  later.join();
  EXPECT_EQ(status, 128 + SIGTERM) << text;
}

TEST_P(hosts_launch, programs_that_are_no_nodes_simply_run) {
  auto j = job("", 2);
  j.arguments = {"printf", "%s|", "a b", "it's", "new\nline", "$HOME", ""};
  const auto [status, text] = run(j);
  EXPECT_EQ(status, 0);
  const std::string printed = "a b|it's|new\nline|$HOME||a b|it's|new\nline|$HOME||";
  EXPECT_EQ(text.substr(0, printed.size()), printed);
  EXPECT_EQ(text.find("no node of this job has come") != text.npos, GetParam());
  j.arguments = {"sh", "-c", "echo $ODD; pwd; cat"};
  j.environment = {"ODD=it's  \"odd\""};
  j.nodes = 1;
  if (GetParam()) {
    EXPECT_TRUE(run(j).second.starts_with("it's \"odd\"\n" + fs::current_path().string() + "\n"));
  }
}

TEST_P(hosts_launch, what_cannot_start_is_a_sentence) {
  auto j = job("work", 1);
  j.listen = "192.0.2.1";
  EXPECT_THROW(launch_hosts(j), error);
  j = job("work", 1);
  j.arguments = {"no-such-program-here"};
  if (GetParam()) {
    const auto [status, text] = run(j);
    EXPECT_EQ(status, 127) << text;
    EXPECT_TRUE(has(text, "no-such-program-here")) << text;
    j.remote_shell = "no-such-shell";
  }
  EXPECT_THROW(launch_hosts(j), error);
}

// Started by the next one, to be killed.
TEST(hosts_node, DISABLED_launches) {
  hosts_job j;
  j.hosts = {"a", "b"};
  j.remote_shell = std::getenv("TEST_SHELL");
  j.listen = "127.0.0.1";
  j.arguments = {"sh", "-c", "echo $$ >>$TEST_PIDS; exec sleep 1000"};
  j.environment = {std::string("TEST_PIDS=") + std::getenv("TEST_PIDS")};
  ::_exit(launch_hosts(j));
}

TEST_P(hosts_launch, what_was_started_elsewhere_ends_with_the_launcher) {
  if (!GetParam()) return;  // here the kernel sees to it: machine/process.hpp
  machine::spawn_request request;
  request.arguments = {machine::own_executable(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                       "--gtest_filter=hosts_node.DISABLED_launches"};
  const fs::path pids = folder_ / "pids";
  request.environment = {"TEST_SHELL=" + (folder_ / "shell").string(), "TEST_PIDS=" + pids.string()};
  auto launcher = machine::spawn(request);
  std::vector<int> found;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (found.size() < 2 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    found.clear();
    std::ifstream in(pids);
    for (int pid = 0; in >> pid;) found.push_back(pid);
  }
  ASSERT_EQ(found.size(), 2U);
  launcher.kill(SIGKILL);
  launcher.reap();
  for (const int pid : found) {
    while (fs::exists("/proc/" + std::to_string(pid)) && std::chrono::steady_clock::now() < end) {
      // Whoever inherits it may be slow to take its status.
      if (content("/proc/" + std::to_string(pid) + "/stat").find(") Z") != std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now(), end);
}

TEST(hosts, are_names_between_commas) {
  EXPECT_EQ(parse_hosts("a,b.c,a"), (std::vector<std::string>{"a", "b.c", "a"}));
  EXPECT_EQ(parse_hosts("a,b:2"), (std::vector<std::string>{"a", "b", "b"}));
  EXPECT_EQ(parse_hosts("fe80::1"), std::vector<std::string>{"fe80::1"});
  for (const char* wrong : {"a:", "a:0", "a:x", "a:2x", "a:4194305", ":2"}) EXPECT_THROW(parse_hosts(wrong), error);
  const auto file = std::filesystem::temp_directory_path() / ("shoal-hosts-" + std::to_string(base::now_ns()));
  std::ofstream(file) << "# two machines\na\n\nb slots=2  # large\nc:2\n";
  EXPECT_EQ(parse_hosts(file.string()), (std::vector<std::string>{"a", "b", "b", "c", "c"}));
  std::ofstream(file) << "# none\n";
  EXPECT_THROW(parse_hosts(file.string()), error);
  std::filesystem::remove(file);
  for (const char* wrong : {"", "a,", ",a", "a,,b", "-oProxyCommand=x", "a, b"})
    EXPECT_THROW(parse_hosts(wrong), error);
}

TEST(hosts, remote_shells_are_words) {
  const auto words = remote_command("ssh -o BatchMode=yes", "host");
  EXPECT_EQ(words.size(), 5U);
  EXPECT_EQ(words[2], "BatchMode=yes");
  EXPECT_EQ(words[3], "host");
  EXPECT_THROW(remote_command(" ", "host"), error);
}

}  // namespace
}  // namespace shoal::launch

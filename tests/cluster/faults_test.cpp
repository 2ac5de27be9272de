// SPDX-License-Identifier: Apache-2.0
// Tests nodes and launchers that end too early, by signals or by themselves, and stack overflows: the other nodes
// report it within seconds, and no process or shared memory remains.
#include "tests/cluster/job_process.hpp"

#include <csignal>

namespace {

using shoal::test::all_gone_within;
using shoal::test::in_shell;
using shoal::test::job_process;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::processes_in;
using shoal::test::program;
using shoal::test::run;
using shoal::test::shared_memory_files;

constexpr double k_within_seconds = 5;

double seconds_since(job_process::clock::time_point begin) {
  return std::chrono::duration<double>(job_process::clock::now() - begin).count();
}

struct killed_node {
  int node;
  const char* direct;
  const char* job;
};

class a_node_killed : public testing::TestWithParam<killed_node> {};

INSTANTIATE_TEST_SUITE_P(cases, a_node_killed,
                         testing::Values(killed_node{0, "on", "endless"}, killed_node{1, "on", "endless"},
                                         killed_node{0, "off", "endless"}, killed_node{2, "off", "endless"},
                                         killed_node{1, "off", "idle"}),
                         [](const auto& given) {
                           return "node_" + std::to_string(given.param.node) + "_" + given.param.job + "_direct_" +
                                  given.param.direct;
                         });

TEST_P(a_node_killed, is_named_and_the_others_leave) {
  const auto before = shared_memory_files();
  job_process job(
      launch({"-n", "3", "-w", "1", "--direct", GetParam().direct}, {program("cluster_faults"), GetParam().job}));
  ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // into the middle of it
  const auto nodes = processes_in(job.text());
  ASSERT_EQ(nodes.size(), 3U) << job.text();
  const int victim = nodes.at(GetParam().node);
  const auto begin = job_process::clock::now();
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  const outcome got = job.wait(30);
  EXPECT_LT(seconds_since(begin), k_within_seconds) << got;
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_EQ(got.status.shell_code(), 128 + SIGKILL) << got;
  EXPECT_TRUE(got.has("killed by signal 9")) << got;
  EXPECT_TRUE(got.has("node " + std::to_string(GetParam().node) + " (process " + std::to_string(victim) + ")")) << got;
  EXPECT_TRUE(all_gone_within(nodes, 1));
  EXPECT_EQ(shared_memory_files(), before);
}

// The launcher's process for that node is a script that runs for a long time: the launcher must act on the end of the
// other nodes.
TEST(faults, a_node_whose_script_outlives_it_does_not_hold_up_the_job) {
  const std::string choose = "case \"$SHOAL_LAUNCH\" in *node=1\\ *) '" + program("cluster_faults") +
                             "' exit_there; exec sleep 60;; esac; exec '" + program("cluster_faults") + "' exit_there";
  const outcome got = run(launch({"-n", "2", "-w", "1"}, {"/bin/bash", "-c", choose}), {}, 40);
  EXPECT_TRUE(got.in_time) << got;
  EXPECT_LT(got.seconds, 2 * k_within_seconds) << got;  // the grace included
  EXPECT_NE(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("node 1 ")) << got;
}

TEST(faults, a_node_that_leaves_by_exit_or_abort_is_named_too) {
  for (const auto& [what, node] :
       {std::pair{"exit_there", "node 1 "}, std::pair{"abort_there", "node 1 "}, std::pair{"exit_here", "node 0 "}}) {
    const outcome got = run(launch({"-n", "2"}, {program("cluster_faults"), what}), {}, 30);
    EXPECT_TRUE(got.in_time) << got;
    EXPECT_LT(got.seconds, k_within_seconds) << got;
    EXPECT_NE(got.status.shell_code(), 0) << got;
    EXPECT_TRUE(got.has(node)) << got;
  }
}

TEST(faults, a_node_that_ends_before_it_joins_ends_the_others_at_once) {
  const std::string choose =
      "case \"$SHOAL_LAUNCH\" in *node=1\\ *) sleep 1; exit 3;; esac; exec '" + program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "3"}, {"/bin/bash", "-c", choose}), {}, 30);
  EXPECT_EQ(got.status.code, 3) << got;
  EXPECT_TRUE(got.has("node 1 ended before the job began")) << got;  // they report it, and are not killed for silence
  EXPECT_LT(got.seconds, k_within_seconds) << got;
}

TEST(faults, a_signal_to_the_launcher_ends_the_job_without_blaming_a_node) {
  for (const int number : {SIGTERM, SIGINT})
    for (const char* what : {"endless", "idle"}) {
      job_process job(launch({"-n", "3"}, {program("cluster_faults"), what}));
      ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
      const auto nodes = processes_in(job.text());
      const auto begin = job_process::clock::now();
      job.signal(number);
      const outcome got = job.wait(30);
      EXPECT_LT(seconds_since(begin), k_within_seconds) << got;
      EXPECT_EQ(got.status.shell_code(), 128 + number) << got;
      EXPECT_FALSE(got.has("before its time")) << got;
      EXPECT_TRUE(all_gone_within(nodes, 1));
    }
}

TEST(faults, a_signal_to_a_program_alone_ends_it) {
  for (const char* nodes : {"1", "2"}) {
    job_process job({program("cluster_faults"), "endless"}, {std::string("SHOAL_NODES=") + nodes});
    ASSERT_TRUE(job.says(" pid ", std::atoi(nodes))) << job.text();
    job.signal(SIGINT);
    const outcome got = job.wait(10);
    EXPECT_EQ(got.status.shell_code(), 128 + SIGINT) << got;
  }
}

TEST(faults, ctrl_c_that_reaches_the_whole_group_ends_it_quietly) {
  // setsid: a separate process group, as for a terminal's foreground job.
  job_process job({"/bin/bash", "-c",
                   "exec setsid -w '" SHOAL_COMMAND "' run -n 3 -- '" SHOAL_PROGRAMS "/cluster_faults' endless"});
  ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
  const auto nodes = processes_in(job.text());
  const int group = ::getpgid(nodes.at(0));
  ASSERT_GT(group, 1);
  ASSERT_NE(group, ::getpgrp());
  const auto begin = job_process::clock::now();
  ASSERT_EQ(::kill(-group, SIGINT), 0);
  const outcome got = job.wait(30);
  EXPECT_LT(seconds_since(begin), k_within_seconds) << got;
  EXPECT_EQ(got.status.shell_code(), 128 + SIGINT) << got;
  EXPECT_FALSE(got.has("before its time")) << got;
  EXPECT_TRUE(all_gone_within(nodes, 1));
}

TEST(faults, the_nodes_of_a_killed_launcher_end) {
  for (const char* what : {"endless", "idle"}) {
    const auto before = shared_memory_files();
    job_process job(launch({"-n", "3"}, {program("cluster_faults"), what}));
    ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
    const auto nodes = processes_in(job.text());
    job.signal(SIGKILL);
    EXPECT_EQ(job.wait(10).status.signal, SIGKILL);
    EXPECT_TRUE(all_gone_within(nodes, k_within_seconds)) << job.text();
    EXPECT_EQ(shared_memory_files(), before);
  }
}

TEST(faults, a_node_that_is_stopped_for_a_while_is_not_taken_for_dead) {
  job_process job(launch({"-n", "2"}, {program("cluster_faults"), "compute"}));
  ASSERT_TRUE(job.says(" pid ", 2)) << job.text();
  const int stopped = processes_in(job.text()).at(1);
  ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ASSERT_EQ(::kill(stopped, SIGCONT), 0);
  const outcome got = job.wait(30);
  EXPECT_TRUE(got.status.clean()) << got;
}

TEST(faults, an_overflow_of_a_task_s_stack_names_the_setting_and_ends_the_job) {
  for (const char* what : {"overflow", "overflow_there"})
    for (const char* nodes : {"1", "2"}) {
      const outcome got = run(launch({"-n", nodes, "-w", "1"}, {program("cluster_faults"), what}), {}, 30);
      EXPECT_TRUE(got.in_time) << what << ": " << got;
      EXPECT_LT(got.seconds, k_within_seconds) << what << ": " << got;
      EXPECT_NE(got.status.shell_code(), 0) << what << ": " << got;
      EXPECT_TRUE(got.has("has overflowed its stack")) << what << ": " << got;
      EXPECT_TRUE(got.has("SHOAL_STACK")) << what << ": " << got;
      EXPECT_TRUE(got.has("/cluster_faults+0x")) << what << ": " << got;  // the task
      EXPECT_TRUE(got.has("worker 0, stack ")) << what << ": " << got;
    }
}

TEST(faults, an_overflow_of_the_main_task_s_stack_is_explained) {
  for (const char* nodes : {"1", "2"}) {  // it begins on the thread's own stack
    const outcome got = run(launch({"-n", nodes, "-w", "1"}, {program("cluster_faults"), "overflow_main"}), {}, 30);
    EXPECT_LT(got.seconds, k_within_seconds) << got;
    EXPECT_NE(got.status.shell_code(), 0) << got;
    EXPECT_TRUE(got.has("has overflowed its stack")) << got;
    EXPECT_TRUE(got.has("ulimit -s")) << got;
  }
}

#ifndef SHOAL_CHECKED
TEST(faults, a_fault_of_another_kind_says_what_a_checked_build_finds) {
  for (const char* nodes : {"1", "2"}) {
    const outcome got = run(launch({"-n", nodes, "-w", "1"}, {program("cluster_faults"), "wild_pointer"}), {}, 30);
    EXPECT_EQ(got.status.shell_code(), 128 + SIGSEGV) << got;
    EXPECT_TRUE(got.has("has used the address 0x123456789000")) << got;
    EXPECT_TRUE(got.has("checked build")) << got;
    EXPECT_TRUE(got.has("/cluster_faults+0x")) << got;
    EXPECT_FALSE(got.has("overflowed")) << got;
  }
}
#endif

TEST(faults, the_setting_that_the_overflow_names_cures_it) {
  const std::vector<std::string> deep{program("cluster_faults"), "deep", "1000"};
  const outcome small = run(deep, {"SHOAL_WORKERS=1"}, 30);
  EXPECT_TRUE(small.has("SHOAL_STACK")) << small;
  const outcome large = run(deep, {"SHOAL_WORKERS=1", "SHOAL_STACK=4M", "SHOAL_STACKS=1024"}, 30);
  EXPECT_TRUE(large.status.clean()) << large;
  const outcome none =
      run({program("cluster_faults"), "overflow"}, {"SHOAL_WORKERS=1", "SHOAL_STACK=4M", "SHOAL_STACKS=1024"}, 30);
  EXPECT_NE(none.status.shell_code(), 0) << none;
  EXPECT_TRUE(none.has("4194304 bytes")) << none;
}

TEST(faults, more_waiting_tasks_than_stacks_is_said_and_not_fatal) {
  const outcome few = run({program("cluster_faults"), "stacks", "5000"}, {"SHOAL_WORKERS=1"}, 30);
  EXPECT_TRUE(few.status.clean()) << few;
  EXPECT_TRUE(few.has("all went on")) << few;
}

// Memory that gets the number of standard output or error would be written to by what the program prints.
TEST(faults, jobs_run_with_closed_standard_descriptors) {
  const std::vector<std::vector<std::string>> commands{
      launch({"-n", "2"}, {program("cluster_faults"), "works"}),
      {"/usr/bin/env", "SHOAL_NODES=2", program("cluster_faults"), "works"},
      {program("cluster_faults"), "works"},
      {SHOAL_COMMAND, "bfs", "--kronecker", "8", "--roots", "2", "-n", "2"}};
  for (const auto& command : commands)
    for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
      const outcome got = run(in_shell(std::string("exec ") + closed + ";", command), {}, 30);
      EXPECT_TRUE(got.status.clean()) << closed << ": " << got;
      if (std::string(closed) == "<&-") {
        EXPECT_NE(got.text, "");
      }
    }
}

TEST(faults, a_job_tells_its_status_where_SIGCHLD_is_ignored) {
  for (const char* status : {"0", "5"})
    for (const char* nodes : {"1", "3"}) {
      auto command = launch({"-n", nodes}, {program("cluster_faults"), "status", status});
      command.insert(command.begin(), {"/usr/bin/env", "--ignore-signal=CHLD"});
      const outcome got = run(command, {}, 30);
      EXPECT_EQ(got.status.shell_code(), std::atoi(status)) << got;
    }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Jobs in which nothing can run any more say what each task waits for, and end; jobs that can go on do.
#include "tests/cluster/job_process.hpp"

#include <csignal>

#include "base/exit_status.hpp"

namespace {

using shoal::base::k_job_failed_status;
using shoal::test::job_process;
using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;

struct hung {
  const char* what;
  std::vector<std::string> said;
};

class a_hang : public testing::TestWithParam<hung> {};
INSTANTIATE_TEST_SUITE_P(
    kinds, a_hang,
    testing::Values(hung{"relock", {"the mutex", "itself", "in a cycle: the main task waits for the mutex"}},
                    hung{"opposite",
                         {"lambda 1", "lambda 2", "lock_in_opposite_order", "the mutex", "in a cycle: lambda",
                          "2 tasks that it has spawned"}},
                    hung{"movable_opposite",
                         {"lambda 1", "lambda 2", "lock_in_opposite_order", "the mutex", "in a cycle: lambda",
                          "2 tasks that it has spawned"}},
                    hung{"latch", {"20 ", "the latch", "wait_for_a_latch"}},
                    hung{"movable_latch", {"20 ", "the latch", "wait_for_a_latch"}},
                    hung{"behind", {"the latch", "leave_work_behind"}},
                    hung{"semaphore", {"'reader'", "the semaphore", "the future 'reader'", "wait_for_a_semaphore"}}),
    [](const auto& given) { return std::string(given.param.what); });

TEST_P(a_hang, ends_the_job_and_is_explained) {
  for (const char* workers : {"1", "2"}) {
    const outcome got = run({program("cluster_hang"), GetParam().what}, {std::string("SHOAL_WORKERS=") + workers}, 30);
    EXPECT_TRUE(got.in_time) << got;
    EXPECT_EQ(got.status.code, k_job_failed_status) << got;
    EXPECT_TRUE(got.has("nothing in this job can run any more")) << got;
    EXPECT_TRUE(got.has("printed before")) << got;
    for (const std::string& part : GetParam().said) EXPECT_TRUE(got.has(part)) << part << "\n" << got;
  }
}

TEST(hang, of_nodes_in_one_process_is_found_over_all_of_them) {
  for (const char* direct : {"on", "off"}) {
    const outcome got = run({program("cluster_hang"), "there"},
                            {"SHOAL_NODES=3", "SHOAL_WORKERS=1", std::string("SHOAL_DIRECT=") + direct}, 30);
    EXPECT_EQ(got.status.code, k_job_failed_status) << got;
    EXPECT_TRUE(got.has("the latch")) << got;
    EXPECT_TRUE(got.has("1 call or remote loop")) << got;
    EXPECT_TRUE(got.has("hang_on_another_node")) << got;
  }
}

TEST(hang, of_work_that_only_the_end_of_the_job_waits_for_is_found_on_all_nodes) {
  const outcome got = run({program("cluster_hang"), "behind_there"}, {"SHOAL_NODES=2", "SHOAL_WORKERS=1"}, 30);
  EXPECT_EQ(got.status.code, k_job_failed_status) << got;
  EXPECT_TRUE(got.has("the latch")) << got;
  EXPECT_TRUE(got.has("leave_work_behind")) << got;
}

TEST(hang, of_the_end_of_a_pool_is_reported) {
  job_process job({program("cluster_hang"), "behind_pool"}, {"SHOAL_HANG_SECONDS=0.5", "SHOAL_WORKERS=2"});
  EXPECT_TRUE(job.says("nothing in this job or pool has run")) << job.text();
  EXPECT_TRUE(job.says("leave_work_behind")) << job.text();
  job.signal(SIGKILL);
  job.wait(10);
}

TEST(a_job_of_several_processes, that_hangs_ends_with_one_table) {
  const outcome got = run(launch({"-n", "3", "-w", "1"}, {program("cluster_hang"), "there"}), {}, 60);
  EXPECT_EQ(got.status.shell_code(), k_job_failed_status) << got;
  EXPECT_TRUE(got.has("the latch")) << got;
  EXPECT_TRUE(got.has("1 call or remote loop")) << got;
  EXPECT_FALSE(got.has("before its time")) << got;
}

TEST(a_job_of_several_processes, whose_last_node_computes_goes_on) {
  const outcome got = run(launch({"-n", "3", "-w", "2"}, {program("cluster_hang"), "long_there"}), {}, 60);
  EXPECT_EQ(got.status.shell_code(), 0) << got;
  EXPECT_TRUE(got.has("went on after 2 s")) << got;
}

TEST(hang, is_reported_once_while_a_thread_may_set_a_promise) {
  job_process job({program("cluster_hang"), "promise"}, {"SHOAL_HANG_SECONDS=0.5", "SHOAL_WORKERS=2"});
  EXPECT_TRUE(job.says("the promise 'answer'")) << job.text();
  EXPECT_TRUE(job.says("it goes on if another thread")) << job.text();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::string text = job.text();
  EXPECT_EQ(text.find("the promise 'answer'"), text.rfind("the promise 'answer'")) << text;
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(10).status.shell_code(), 128 + SIGINT);
}

TEST(hang, is_none_while_a_thread_or_a_body_goes_on) {
  for (const char* what : {"thread", "followed", "long_body", "long_there"})
    for (const char* nodes : {"1", "2"}) {
      const outcome got = run({program("cluster_hang"), what},
                              {std::string("SHOAL_NODES=") + nodes, "SHOAL_WORKERS=2", "SHOAL_HANG_SECONDS=0.5"}, 30);
      EXPECT_EQ(got.status.code, 0) << got;
      EXPECT_TRUE(got.has("went on")) << got;
    }
}

TEST(hang, is_none_while_a_thread_may_set_the_promise_of_a_movable_task) {
  for (const char* workers : {"1", "2"}) {
    const outcome got = run({program("cluster_hang"), "movable_thread"},
                            {std::string("SHOAL_WORKERS=") + workers, "SHOAL_HANG_SECONDS=1"}, 30);
    EXPECT_EQ(got.status.code, 0) << got;
    EXPECT_TRUE(got.has("went on with 7")) << got;
    EXPECT_TRUE(got.has("the promise 'late'")) << got;  // reported meanwhile
  }
}

class a_cycle_of_mutexes : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(tasks, a_cycle_of_mutexes, testing::Values("beside", "movable_beside"),
                         [](const auto& given) { return std::string(given.param); });

TEST_P(a_cycle_of_mutexes, is_named_while_the_rest_runs) {
  for (const char* workers : {"1", "2"}) {
    const outcome got = run({program("cluster_hang"), GetParam()}, {std::string("SHOAL_WORKERS=") + workers}, 30);
    EXPECT_EQ(got.status.code, 0) << got;
    EXPECT_TRUE(got.has("wait for each other in a cycle: lambda")) << got;
    EXPECT_TRUE(got.has("lambda 1")) << got;
    EXPECT_TRUE(got.has("lambda 2")) << got;
    EXPECT_LT(got.text.find("in a cycle"), got.text.find("went on")) << got;
  }
}

TEST(hang, a_signal_asks_for_the_table_at_any_time) {
  job_process job({program("cluster_hang"), "promise"}, {"SHOAL_HANG_SECONDS=0", "SHOAL_WORKERS=2"});
  ASSERT_TRUE(job.says(" pid ")) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int times = 1; times <= 2; ++times) {
    job.signal(SIGUSR1);
    EXPECT_TRUE(job.says("the promise 'answer'", times)) << job.text();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(10).status.shell_code(), 128 + SIGINT);
}

TEST(a_job_of_several_processes, answers_a_signal_to_any_of_its_processes_with_one_table) {
  job_process job(launch({"-n", "3"}, {program("cluster_hang"), "promise"}), {"SHOAL_HANG_SECONDS=0"});
  ASSERT_TRUE(job.says(" pid ", 3)) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ASSERT_EQ(::kill(shoal::test::processes_in(job.text()).at(0), SIGUSR1), 0);
  EXPECT_TRUE(job.says("the promise 'answer'")) << job.text();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (const auto& [node, process] : shoal::test::processes_in(job.text())) ASSERT_EQ(::kill(process, SIGUSR1), 0);
  EXPECT_TRUE(job.says("the promise 'answer'", 2)) << job.text();
  EXPECT_FALSE(job.says("the promise 'answer'", 3, 4)) << job.text();  // nodes that ask each other wait for 2 s
  job.signal(SIGTERM);
  job.wait(10);
}

TEST(a_job_of_several_processes, gets_a_signal_that_is_sent_to_its_launcher) {
  job_process job(launch({"-n", "2"}, {program("cluster_hang"), "promise"}), {"SHOAL_HANG_SECONDS=0"});
  ASSERT_TRUE(job.says(" pid ", 2)) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int times = 1; times <= 2; ++times) {
    job.signal(SIGUSR1);
    EXPECT_TRUE(job.says("the promise 'answer'", times)) << job.text();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  EXPECT_FALSE(job.says("the promise 'answer'", 3, 2)) << job.text();
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(10).status.shell_code(), 128 + SIGTERM);
}

TEST(a_job_of_several_processes, does_not_pass_a_signal_on_to_those_it_would_end) {
  job_process job(launch({"-n", "2"}, {"sleep", "2"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  job.signal(SIGUSR1);
  EXPECT_TRUE(job.says("has a handler for it")) << job.text();
  EXPECT_EQ(job.wait(10).status.code, 0);
}

TEST(hang, of_iterations_that_wait_for_later_ones_says_which_limit_was_reached) {
  const outcome few = run({program("cluster_hang"), "later"}, {"SHOAL_WORKERS=2", "SHOAL_STACKS=64"}, 60);
  EXPECT_EQ(few.status.code, k_job_failed_status) << few;
  EXPECT_TRUE(few.has("exhausted")) << few;
  EXPECT_TRUE(few.has("SHOAL_STACKS")) << few;
  EXPECT_TRUE(few.has("SHOAL_WAITING_MEMORY")) << few;
  const outcome held = run({program("cluster_hang"), "later"}, {"SHOAL_WORKERS=2", "SHOAL_WAITING_MEMORY=100K"}, 60);
  EXPECT_EQ(held.status.code, k_job_failed_status) << held;
  EXPECT_TRUE(held.has("exhausted")) << held;
  EXPECT_TRUE(held.has("SHOAL_WAITING_MEMORY")) << held;
  EXPECT_TRUE(held.has("SHOAL_STACKS")) << held;
  const outcome enough = run({program("cluster_hang"), "later"}, {"SHOAL_WORKERS=2"}, 60);
  EXPECT_EQ(enough.status.code, 0) << enough;
  EXPECT_TRUE(enough.has("went on")) << enough;
}

// With as few stacks as may be set, so that the iterations that may wait leave stacks for their tasks.
TEST(hang, is_not_what_iterations_with_children_come_to_if_stacks_are_few) {
  for (const char* workers : {"SHOAL_WORKERS=1", "SHOAL_WORKERS=2", "SHOAL_WORKERS=4"}) {
    const outcome got = run({program("cluster_hang"), "children"}, {workers, "SHOAL_STACKS=64"}, 60);
    EXPECT_EQ(got.status.code, 0) << got;
    EXPECT_TRUE(got.has("15000 ended")) << got;
  }
}

TEST(hang, at_mutexes_of_tasks_that_have_ended_names_no_other_task_as_the_holder) {
  for (const char* what : {"ended", "movable_ended"})
    for (const char* workers : {"SHOAL_WORKERS=1", "SHOAL_WORKERS=2"}) {
      const outcome got = run({program("cluster_hang"), what}, {workers}, 30);
      EXPECT_EQ(got.status.code, k_job_failed_status) << got;
      const std::size_t first = got.text.find("a task that has ended");
      EXPECT_NE(first, std::string::npos) << got;
      EXPECT_NE(got.text.find("a task that has ended", first + 1), std::string::npos) << got;
      EXPECT_FALSE(got.has("in a cycle")) << got;
    }
}

TEST(iterations, that_yield_until_later_ones_have_run_are_warned_of_once) {
  job_process job({program("cluster_hang"), "yields"}, {"SHOAL_WORKERS=2", "SHOAL_WAITING_MEMORY=100K"});
  EXPECT_TRUE(job.says("SHOAL_WAITING_MEMORY and SHOAL_STACKS", 1, 20)) << job.text();
  EXPECT_FALSE(job.says("SHOAL_WAITING_MEMORY and SHOAL_STACKS", 2, 3)) << job.text();
  job.signal(SIGKILL);
  job.wait(10);
}

TEST(shoal_ps, lists_jobs_and_what_their_tasks_wait_for) {
  job_process job(launch({"-n", "2", "-w", "1"}, {program("cluster_hang"), "promise"}), {"SHOAL_HANG_SECONDS=0"});
  ASSERT_TRUE(job.says(" pid ")) << job.text();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const outcome got = run({SHOAL_COMMAND, "ps", "--memory"}, {}, 20);
  EXPECT_EQ(got.status.code, 0) << got;
  EXPECT_TRUE(got.has("cluster_hang")) << got;
  EXPECT_TRUE(got.has("2 nodes, 2 workers, 1 task waits")) << got;
  EXPECT_TRUE(got.has("the promise 'answer'")) << got;
  EXPECT_TRUE(got.has("resident")) << got;
  EXPECT_TRUE(got.has("arrays (most)")) << got;
  EXPECT_TRUE(got.has("7.6 MiB  'ranks', array of 1000000 elements of 8 bytes, made at programs/hang.cpp:")) << got;
  EXPECT_TRUE(got.has("'seen', global_map, made at programs/hang.cpp:")) << got;
  EXPECT_TRUE(got.has("(2 parts)")) << got;
  const std::string process = std::to_string(shoal::test::processes_in(job.text()).at(0));
  EXPECT_TRUE(got.has("cluster_hang " + process)) << got;
  job.signal(SIGKILL);
  job.wait(10);
  ASSERT_TRUE(shoal::test::all_gone_within(shoal::test::processes_in(job.text()), 5));
  const outcome after = run({SHOAL_COMMAND, "ps"}, {}, 20);
  EXPECT_FALSE(after.has("cluster_hang " + process)) << after;
}

}  // namespace

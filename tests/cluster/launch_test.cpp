// SPDX-License-Identifier: Apache-2.0
// Tests jobs of several processes: the guarantees, the end of a job, and the errors for mismatches.
#include "launch/local_launch.hpp"

#include "tests/cluster/job_process.hpp"

namespace {

using shoal::test::launch;
using shoal::test::outcome;
using shoal::test::program;
using shoal::test::run;

struct job_shape {
  const char* nodes;
  const char* workers;
  const char* direct;
};

class processes : public testing::TestWithParam<job_shape> {
protected:
  std::vector<std::string> options() const {
    return {"-n", GetParam().nodes, "-w", GetParam().workers, "--direct", GetParam().direct};
  }
};

INSTANTIATE_TEST_SUITE_P(shapes, processes,
                         testing::Values(job_shape{"2", "1", "on"}, job_shape{"2", "1", "off"},
                                         job_shape{"4", "1", "on"}, job_shape{"4", "1", "off"},
                                         job_shape{"2", "2", "on"}, job_shape{"2", "2", "off"}),
                         [](const auto& shape) {
                           return std::string(shape.param.nodes) + "_nodes_" + shape.param.workers + "_workers_" +
                                  (std::string(shape.param.direct) == "on" ? "mapped" : "messages");
                         });

TEST_P(processes, keep_all_promises) {
  const outcome got = run(launch(options(), {program("cluster_promises")}), {}, 100);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has(std::string("all promises kept on ") + GetParam().nodes + " nodes")) << got;
}

TEST_P(processes, run_lambdas_of_libraries_wherever_they_lie) {
  const outcome got = run(launch(options(), {program("cluster_faults"), "library"}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("the library works")) << got;
}

TEST(launch, a_program_alone_is_a_job_of_one_node_or_of_several_in_one_process) {
  const outcome alone = run({program("cluster_promises")}, {}, 100);
  EXPECT_TRUE(alone.status.clean()) << alone;
  EXPECT_TRUE(alone.has("on 1 nodes")) << alone;
  const outcome three = run({program("cluster_promises")}, {"SHOAL_NODES=3", "SHOAL_DIRECT=off"}, 100);
  EXPECT_TRUE(three.status.clean()) << three;
  EXPECT_TRUE(three.has("on 3 nodes")) << three;
}

TEST(launch, the_main_task_s_status_is_the_job_s) {
  for (const char* status : {"0", "5", "255"}) {
    EXPECT_EQ(run({program("cluster_faults"), "status", status}).status.code, std::atoi(status));
    for (const char* nodes : {"1", "3"}) {
      const outcome got = run(launch({"-n", nodes}, {program("cluster_faults"), "status", status}));
      EXPECT_EQ(got.status.signal, 0) << got;
      EXPECT_EQ(got.status.code, std::atoi(status)) << got;
      EXPECT_EQ(got.text, "");
    }
  }
}

TEST(launch, a_status_that_the_system_would_cut_to_8_bits_is_no_success) {
  for (const char* status : {"256", "-1", "512", "1000"}) {
    EXPECT_EQ(run({program("cluster_faults"), "status", status}).status.code, 1) << status;
    const outcome got = run(launch({"-n", "2"}, {program("cluster_faults"), "status", status}));
    EXPECT_EQ(got.status.code, 1) << got;
  }
}

TEST(launch, an_exception_of_the_main_task_is_told_once_and_gives_1) {
  for (const auto& [what, words] :
       {std::pair{"throw", "the main task gives up"}, std::pair{"throw_odd", "no std::exception: int 42"},
        std::pair{"throw_there", "too far out"}}) {
    for (const bool launched : {false, true}) {
      const outcome got = launched ? run(launch({"-n", "3"}, {program("cluster_faults"), what}))
                                   : run({program("cluster_faults"), what});
      EXPECT_EQ(got.status.signal, 0) << got;
      EXPECT_EQ(got.status.code, 1) << got;
      EXPECT_TRUE(got.has(words)) << got;
      EXPECT_EQ(std::count(got.text.begin(), got.text.end(), '\n'), 1) << got;
    }
  }
  const outcome there = run(launch({"-n", "3"}, {program("cluster_faults"), "throw_there"}));
  EXPECT_TRUE(there.has("node 2")) << there;
  EXPECT_TRUE(there.has("std::out_of_range")) << there;
}

TEST(launch, a_program_that_never_starts_the_runtime_simply_runs_several_times) {
  const outcome got = run(launch({"-n", "3"}, {program("cluster_plain")}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_EQ(got.text, "plain\nplain\nplain\n");
  EXPECT_EQ(run(launch({"-n", "2"}, {program("cluster_plain"), "x", "x"})).status.code, 2);
}

TEST(launch, what_cannot_be_started_is_named) {
  const outcome missing = run(launch({"-n", "2"}, {program("no_such_program")}));
  EXPECT_EQ(missing.status.code, 2) << missing;
  EXPECT_TRUE(missing.has("no_such_program")) << missing;
  EXPECT_NE(run(launch({"-n", "0"}, {program("cluster_plain")})).status.code, 0);
  EXPECT_NE(run(launch({"-n", "100000"}, {program("cluster_plain")})).status.code, 0);
  EXPECT_NE(run({SHOAL_COMMAND, "run", "-n", "2"}).status.code, 0);
  // A job cannot start another job.
  const outcome inner = run(launch({"-n", "2"}, {SHOAL_COMMAND, "run", "-n", "2", "--", program("cluster_plain")}));
  EXPECT_NE(inner.status.code, 0) << inner;
  EXPECT_TRUE(inner.has("inside a job")) << inner;
}

TEST(launch, a_launch_variable_set_by_hand_is_refused_with_a_sentence) {
  for (const char* value : {"", "node=0", "node=1 nodes=2 world=x segments=4,5", "node=2 nodes=2 world=3 segments=4,5",
                            "node=0 nodes=2 world=3 segments=4", "node=0 nodes=1 world=77 segments=78",
                            "node=0 nodes=1 world=0 segments=0", "node=0 nodes=4000000000 world=0 segments=0",
                            "node=-1 nodes=1 world=0 segments=0", "node=0 nodes=1 world=0 segments=x"}) {
    const outcome got = run({program("cluster_faults"), "works"}, {std::string("SHOAL_LAUNCH=") + value}, 10);
    EXPECT_EQ(got.status.signal, 0) << value << ": " << got;
    EXPECT_EQ(got.status.code, 1) << value << ": " << got;
    EXPECT_NE(got.text, "") << value;
  }
}

TEST(launch, what_a_node_starts_is_no_node) {
  const outcome got = run(launch({"-n", "2"}, {program("cluster_faults"), "start_another"}), {"SHOAL_WORKERS=1"}, 20);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_EQ(got.text, "works on 1\nworks on 1\nstarted\n") << got;
}

TEST(launch, a_second_program_in_the_place_of_a_node_is_refused_with_a_sentence) {
  const std::string works = "'" + program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "2"}, {"/bin/bash", "-c", works + "; exec " + works}), {}, 20);
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("works on 2")) << got;
  EXPECT_TRUE(got.has("has been started already")) << got;
}

TEST(launch, a_second_call_works_alone_and_is_refused_with_a_sentence_in_a_job) {
  const outcome alone = run({program("cluster_faults"), "twice"});
  EXPECT_TRUE(alone.status.clean()) << alone;
  EXPECT_EQ(alone.text, "once on 1\nonce on 1\n");
  const outcome got = run(launch({"-n", "2"}, {program("cluster_faults"), "twice"}), {}, 20);
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("once on 2")) << got;
  EXPECT_TRUE(got.has("a program that a launcher starts runs one job")) << got;
}

TEST(launch, buffers_for_which_there_is_no_room_are_refused_with_a_sentence) {
  const outcome got = run(launch({"-n", "12", "-w", "1", "--direct", "off"}, {program("cluster_faults"), "works"}),
                          {"SHOAL_BUFFER=1M", "SHOAL_BUFFERS=256"}, 30);
  EXPECT_EQ(got.status.signal, 0) << got;
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("lower SHOAL_BUFFER, SHOAL_BUFFERS or the workers")) << got;
}

TEST(launch, a_program_in_a_folder_named_like_the_kernel_s_own_page_runs) {
  const auto folder = std::filesystem::temp_directory_path() / ("shoal-vdso-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::copy(program("cluster_faults"), folder / "program");
  const outcome got = run(launch({"-n", "2"}, {folder / "program", "works"}));
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("works on 2")) << got;
}

TEST(launch, nodes_that_run_different_programs_do_not_begin) {
  const std::string choose = "case \"$SHOAL_LAUNCH\" in *node=1\\ *) exec '" + program("cluster_other") +
                             "';; esac; exec '" + program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "3"}, {"/bin/bash", "-c", choose}));
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("runs another program")) << got;
  EXPECT_LT(got.seconds, 10) << got;
}

TEST(launch, nodes_that_have_different_settings_do_not_begin) {
  const std::string choose = "case \"$SHOAL_LAUNCH\" in *node=1\\ *) export SHOAL_BUFFER=32K;; esac; exec '" +
                             program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "2"}, {"/bin/bash", "-c", choose}));
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("other settings")) << got;
  EXPECT_TRUE(got.has("buffer 32768") && got.has("buffer 16384")) << got;
}

TEST(launch, a_node_that_never_comes_is_named_when_the_time_is_over) {
  const std::string choose =
      "case \"$SHOAL_LAUNCH\" in *node=1\\ *) exec sleep 30;; esac; exec '" + program("cluster_faults") + "' works";
  const outcome got = run(launch({"-n", "2"}, {"/bin/bash", "-c", choose}), {"SHOAL_START_SECONDS=1"});
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("node 1 has not started within 1 s")) << got;
  EXPECT_LT(got.seconds, 10) << got;
}

TEST(launch, code_of_a_library_that_one_node_has_not_loaded_is_refused_at_the_sender) {
  const outcome got =
      run(launch({"-n", "2"}, {program("cluster_faults"), "library_late", program("libcluster_loaded_library.so")}));
  EXPECT_EQ(got.status.signal, 0) << got;
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("libcluster_loaded_library.so")) << got;
  EXPECT_TRUE(got.has("node 1 has not loaded this version of the library")) << got;
}

TEST(launch, code_of_a_library_that_all_nodes_have_loaded_later_travels) {
  const outcome got = run(launch(
      {"-n", "3"}, {program("cluster_faults"), "library_late_everywhere", program("libcluster_loaded_library.so")}));
  EXPECT_EQ(got.status.code, 0) << got;
}

TEST(launch, a_job_object_runs_many_main_tasks_while_other_processes_serve) {
  const outcome got = run(launch({"-n", "3"}, {program("cluster_faults"), "many_main_tasks"}));
  EXPECT_EQ(got.status.code, 0) << got;
  EXPECT_TRUE(got.has("forty main tasks")) << got;
}

}  // namespace

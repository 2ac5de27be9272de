// SPDX-License-Identifier: Apache-2.0
// Tests what ranks of one process do not share, though the C library keeps it for a process, and what is said when a rank
// crashes. The programs are those of tests/conformance, compiled here by shoal mpicc and mpicxx.
#include <fmt/format.h>

#include <regex>
#include <sstream>
#include <tuple>

#include "machine/process.hpp"
#include "tests/cluster/mpi_program.hpp"

namespace {

using shoal::test::folder;
using shoal::test::outcome;
using shoal::test::run;

using words = std::vector<std::string>;

std::string mpi_program(const std::string& source) {
  return shoal::test::mpi_program(std::string(SHOAL_CONFORMANCE) + "/" + source);
}

outcome run_ranks(const std::string& source, const words& options, const words& arguments = {}) {
  return run(shoal::test::mpirun(std::string(SHOAL_CONFORMANCE) + "/" + source, options, arguments));
}

// Whether it has the words, with blanks in a row as one.
bool has(const outcome& got, const std::string& text) {
  static const std::regex blanks(" +");
  return std::regex_replace(got.text, blanks, " ").find(text) != std::string::npos;
}

class of_the_c_library : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(programs, of_the_c_library,
                         testing::Values("libc_options.c", "libc_state.c", "libc_end.c", "libc_output.c",
                                         "libc_signals.c", "libc_cplusplus.cpp", "libc_static_init.cpp"),
                         [](const auto& given) {
                           const std::string name = given.param;
                           return name.substr(0, name.find('.'));
                         });

TEST_P(of_the_c_library, each_rank_has_its_own) {
  for (const words& shape : {words{"-n", "1", "--nfg", "1"}, words{"-n", "1", "--nfg", "4"},
                             words{"-n", "2", "--nfg", "1"}, words{"-n", "2", "--nfg", "4"},
                             words{"-n", "1", "--nfg", "4", "-w", "2"}, words{"-n", "2", "--nfg", "5", "-w", "2"}}) {
    const outcome got = run_ranks(GetParam(), shape);
    EXPECT_TRUE(got.status.clean()) << got;
  }
}

TEST_P(of_the_c_library, a_program_without_a_host_has_the_librarys) {
  const outcome got = run({mpi_program(GetParam())});
  EXPECT_TRUE(got.status.clean()) << got;
}

class output_of_ranks : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(of_characters, output_of_ranks, testing::Bool(),
                         [](const auto& given) { return given.param ? "wide" : "narrow"; });

TEST_P(output_of_ranks, comes_by_whole_lines) {
  for (const bool label : {false, true})
    for (const words& shape : {words{"-n", "2", "--nfg", "3", "-w", "2"}, words{"-n", "6", "--nfg", "1"}}) {
      words options = shape;
      if (label) options.emplace_back("--label");
      const outcome got = run_ranks("libc_output.c", options, GetParam() ? words{"wide"} : words{});
      std::istringstream lines(got.text);
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        const std::string rank = line.substr(line.find("rank ") + 5, 1);
        const std::string number = line.substr(line.find("line ") + 5, 1);
        std::string wanted = "rank " + rank + " line " + number + ": abc def ghi";
        if (label) wanted = "[" + rank + "] " + wanted;
        EXPECT_EQ(line, wanted);
      }
      EXPECT_EQ(count, 30) << got;
    }
}

struct fault {
  const char* how;
  int status;
  const char* says;
};

class a_rank_that_crashes : public testing::TestWithParam<fault> {};

INSTANTIATE_TEST_SUITE_P(
    faults, a_rank_that_crashes,
    testing::Values(fault{"access", 128 + SIGSEGV, "rank 1 has used the address 0x0, in fail_here ("},
                    fault{"library", 128 + SIGSEGV, ", called by fail_here ("},
                    fault{"abort", 128 + SIGABRT, "rank 1 has called abort() in fail_here ("},
                    fault{"assert", 128 + SIGABRT, "rank 1 has called abort() in fail_here ("},
                    fault{"divide", 128 + SIGFPE, "rank 1 has divided by zero"},
                    fault{"deep", 128 + SIGSEGV, "rank 1 has overflowed its stack of"},
                    fault{"deep", 128 + SIGSEGV, "shoal mpirun --stack MIB"},
                    fault{"large", 128 + SIGSEGV, "give ranks larger stacks (shoal mpirun --stack MIB)"},
                    fault{"exit", 5, "rank 1 has ended with status 5 without MPI_Finalize"},
                    fault{"quick", 6, "rank 1 has ended with status 6 without MPI_Finalize"}),
    [](const auto& given) { return given.param.how + std::to_string(given.index); });

TEST_P(a_rank_that_crashes, is_named_and_ends_the_job) {
  const outcome got = run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2"}, {GetParam().how});
  EXPECT_EQ(got.status.shell_code(), GetParam().status) << got;
  EXPECT_TRUE(got.has(GetParam().says)) << got;
  EXPECT_LT(got.seconds, 10) << got;
}

TEST(the_status_of_a_rank, has_eight_bits_as_that_of_a_process) {
  for (const auto& [given, status] : {std::pair("300", 44), std::pair("-1", 255), std::pair("256", 0)}) {
    const outcome got = run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2"}, {std::string("late ") + given});
    EXPECT_EQ(got.status.code, status) << got;
  }
}

TEST(an_exception, that_nobody_catches_is_named_where_it_is_thrown) {
  const outcome got = run_ranks("libc_cplusplus.cpp", {"-n", "1", "--nfg", "2"}, {"throw"});
  EXPECT_EQ(got.status.shell_code(), 128 + SIGABRT) << got;
  EXPECT_TRUE(got.has("of rank 1")) << got;
  EXPECT_TRUE(got.has("rank 1 has called abort() in ")) << got;
}

TEST(the_working_directory, of_several_ranks_is_one_and_said_so) {
  const std::string said = "rank 1 has changed the working directory for all 2 ranks";
  EXPECT_TRUE(run_ranks("libc_faults.c", {"-n", "1", "--nfg", "2"}, {"folder"}).has(said));
  EXPECT_FALSE(run_ranks("libc_faults.c", {"-n", "1", "--nfg", "2"}, {"own folder"}).has(said));
  EXPECT_FALSE(run_ranks("libc_faults.c", {"-n", "2", "--nfg", "1"}, {"folder"}).has("working directory"));
}

TEST(a_deadlock, is_reported_with_the_place_of_each_call) {
  for (const words& shape : {words{"-n", "1", "--nfg", "5"}, words{"-n", "2", "--nfg", "3", "-w", "2"}}) {
    const outcome got = run_ranks("deadlock.c", shape);
    EXPECT_EQ(got.status.shell_code(), 3) << got;
    EXPECT_TRUE(has(got, "no rank can go on: a deadlock")) << got;
    EXPECT_TRUE(has(got, "0 MPI_Recv deadlock.c:9 (receive) a message of rank 1 with tag 7 in MPI_COMM_WORLD")) << got;
    EXPECT_TRUE(has(got, "1 MPI_Wait deadlock.c:16 (send_much) rank 0 to receive its message with tag 3")) << got;
    EXPECT_TRUE(has(got, "MPI_Barrier deadlock.c:36 (main) the other members' calls")) << got;
  }
}

TEST(a_deadlock, of_a_rank_that_has_come_to_the_end_says_so) {
  for (const words& shape : {words{"-n", "1", "--nfg", "4"}, words{"-n", "2", "--nfg", "2"}}) {
    const outcome got = run_ranks("deadlock.c", shape, {"end"});
    EXPECT_EQ(got.status.shell_code(), 3) << got;
    EXPECT_TRUE(has(got, "0 MPI_Finalize deadlock.c:")) << got;
    EXPECT_TRUE(has(got, "MPI_Barrier deadlock.c:")) << got;
  }
}

TEST(injected_noise, interrupts_the_workers_of_ranks) {
  words command = shoal::test::mpirun(std::string(SHOAL_CONFORMANCE) + "/collectives.c", {"-n", "2", "--nfg", "3"});
  command.insert(command.begin(), {"env", "SHOAL_INJECT=quantum(1ms):constant(10us)+message:constant(1us)"});
  const outcome got = run(command);
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("injected noise: ")) << got;
}

TEST(a_deadlock, is_not_what_ranks_have_that_wait_for_one_that_sleeps) {
  const outcome got = run_ranks("deadlock.c", {"-n", "2", "--nfg", "2"}, {"sleep"});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_FALSE(got.has("wait")) << got;
}

// Each of its processes would be a job of its own.
TEST(a_program_of_another_library, is_refused) {
  const std::string compiler = shoal::machine::find_program("mpicc.openmpi");
  if (!std::filesystem::exists(compiler)) GTEST_SKIP() << "Open MPI is not installed";
  const folder place;
  ASSERT_TRUE(run({compiler, "-o", place / "other", std::string(SHOAL_CONFORMANCE) + "/deadlock.c"}).status.clean());
  const outcome got = run({SHOAL_COMMAND, "mpirun", "-n", "2", "--", place / "other"});
  EXPECT_EQ(got.status.shell_code(), 2) << got;
  EXPECT_TRUE(got.has("is linked to another MPI library, libmpi.so")) << got;
}

TEST(shared_globals, are_one_for_the_ranks_of_a_process) {
  for (const words& shape :
       {words{"-n", "1", "--nfg", "1"}, words{"-n", "1", "--nfg", "5"}, words{"-n", "2", "--nfg", "3"}}) {
    words options = shape;
    options.emplace_back("--shared-globals");
    const outcome got = run_ranks("shared_globals.c", options, {"-a", "-b", "shared"});
    EXPECT_TRUE(got.status.clean()) << got;
    const outcome own = run_ranks("shared_globals.c", shape, {"-a", "-b"});
    EXPECT_TRUE(own.status.clean()) << own;
  }
}

TEST(shared_globals, need_a_program_that_can_be_loaded) {
  const outcome got = run({SHOAL_COMMAND, "mpirun", "--shared-globals", "--", "/bin/true"});
  EXPECT_TRUE(got.has("--shared-globals needs a program that shoal mpicc, mpicxx or mpif90 has built")) << got;
}

// As with srun, whose processes are such nodes.
TEST(mpirun_in_a_job, gives_each_of_its_processes_ranks) {
  const std::string program = mpi_program("collectives.c");
  const outcome got =
      run({SHOAL_COMMAND, "run", "-n", "2", "--", SHOAL_COMMAND, "mpirun", "--nfg", "3", "--", program});
  EXPECT_TRUE(got.status.clean()) << got;
  const outcome refused =
      run({SHOAL_COMMAND, "run", "-n", "2", "--", SHOAL_COMMAND, "mpirun", "-n", "2", "--nfg", "3", "--", program});
  EXPECT_EQ(refused.status.shell_code(), 2) << refused;
  EXPECT_TRUE(refused.has("inside a job")) << refused;
}

// Each process is one rank, and the messages go by another MPI library or by UCX, which are loaded behind the program.
TEST(another_librarys_launcher, starts_programs_of_the_wrapper_compilers) {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const std::string program = mpi_program("collectives.c");
  int launchers = 0;
  for (const char* const name : {"mpirun.mpich", "mpirun.openmpi"}) {
    const std::string launcher = shoal::machine::find_program(name);
    if (!std::filesystem::exists(launcher)) continue;
    ++launchers;
    const outcome got = run({launcher, "-n", "2", program});
    EXPECT_TRUE(got.status.clean()) << got;
  }
  if (launchers == 0) GTEST_SKIP() << "there is no mpirun of another library";
}

// Whether the ranks that differ are in one process or in two.
class calls_that_do_not_fit : public testing::TestWithParam<std::pair<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(collectives, calls_that_do_not_fit,
                         testing::Values(std::pair("kinds", "MPI_Barrier.*MPI_Bcast|MPI_Bcast.*MPI_Barrier"),
                                         std::pair("results", "MPI_Reduce.*MPI_Allreduce|MPI_Allreduce.*MPI_Reduce"),
                                         std::pair("roots", "root"), std::pair("operations", "operation"),
                                         std::pair("counts", "bytes"), std::pair("longer", "bytes"),
                                         std::pair("shorter", "bytes")),
                         [](const auto& given) { return std::string(given.param.first); });

TEST_P(calls_that_do_not_fit, are_named_and_end_the_job) {
  const auto& [what, expected] = GetParam();
  for (const words& shape : {words{"-n", "1", "--nfg", "4"}, words{"-n", "2", "--nfg", "1"},
                             words{"-n", "2", "--nfg", "3"}, words{"-n", "4", "--nfg", "1", "-w", "2"}}) {
    const outcome got = run_ranks("mismatches.c", shape, {what});
    EXPECT_FALSE(got.status.clean()) << got;
    EXPECT_TRUE(std::regex_search(got.text, std::regex(expected))) << got;
  }
}

TEST(mpi_abort, ends_the_job_though_the_network_takes_nothing) {
  const outcome got = run_ranks("aborts.c", {"-n", "2", "--nfg", "2"});
  EXPECT_EQ(got.status.code, 6) << got;
  EXPECT_LT(got.seconds, 10) << got;
}

TEST(mpi_abort, is_no_success_whatever_the_code_is) {
  const outcome got = run_ranks("aborts.c", {"-n", "2", "--nfg", "2"}, {"512"});
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_FALSE(got.has("ended normally")) << got;
}

TEST(a_message_that_does_not_fit, is_named_with_its_sender_tag_and_sizes) {
  for (const auto& [how, sender] : {std::pair("near", 0), std::pair("far", 3)})
    for (const auto& [length, sent, room] : {std::tuple("short", 16, 8), std::tuple("long", 100000, 50000)}) {
      const std::string why =
          fmt::format("the message of rank {} with tag 7 has {} bytes, and the buffer of the receive has room for {}",
                      sender, sent, room);
      const outcome one =
          run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2"}, {fmt::format("truncated {} {}", how, length)});
      EXPECT_EQ(one.status.shell_code(), 15) << one;  // MPI_ERR_TRUNCATE
      EXPECT_TRUE(has(one, "rank 1: MPI_Recv in MPI_COMM_WORLD: " + why)) << one;
      const outcome all =
          run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2"}, {fmt::format("truncated {} {} all", how, length)});
      EXPECT_TRUE(has(all, "MPI_Waitall in MPI_COMM_WORLD: request 1 of the array: " + why)) << all;
    }
}

TEST(a_process_without_memory, for_a_message_is_named_and_ends_the_job) {
  const outcome got = run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2"}, {"memory of messages"});
  EXPECT_EQ(got.status.shell_code(), 39) << got;  // MPI_ERR_NO_MEM
  EXPECT_TRUE(got.has("the process of ranks 0 to 1 has no memory left for a message")) << got;
}

TEST(a_process_without_memory, for_a_call_reports_the_error) {
  for (const words& shape : {words{"-n", "1", "--nfg", "4"}, words{"-n", "2", "--nfg", "2"}}) {
    const outcome got = run_ranks("libc_faults.c", shape, {"memory of calls"});
    EXPECT_EQ(got.status.shell_code(), 39) << got;
    EXPECT_TRUE(got.has("there is not enough memory (MPI_ERR_NO_MEM)")) << got;
  }
}

TEST(a_rank_that_spins, is_named_after_a_time) {  // longer than other tests: ctest -C long
  const outcome got = run_ranks("libc_faults.c", {"-n", "1", "--nfg", "3", "--timeout", "13"}, {"endless"});
  EXPECT_TRUE(got.has("rank 1 has not called MPI for 10 s, and 2 other ranks wait on its worker")) << got;
}

TEST(a_rank_that_spins, is_none_of_those_that_start_one_after_the_other) {
  const outcome got = run_ranks("libc_faults.c", {"-n", "1", "--nfg", "4"}, {"slow start"});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_FALSE(got.has("has not called MPI")) << got;
}

TEST(a_limit_on_time, ends_the_job) {
  const outcome got = run_ranks("libc_faults.c", {"-n", "2", "--nfg", "2", "--timeout", "0.5"}, {"endless"});
  EXPECT_EQ(got.status.shell_code(), 124) << got;
  EXPECT_TRUE(got.has("the job has run for 0.5 s")) << got;
  EXPECT_TRUE(got.has("the ranks of job")) << got;
  EXPECT_LT(got.seconds, 10) << got;
  EXPECT_TRUE(run_ranks("libc_end.c", {"-n", "2", "--timeout", "50"}).status.clean());
}

TEST(a_job_of_ranks, is_shown_by_the_name_of_its_program) {
  const std::string program = mpi_program("libc_faults.c");
  const outcome listed = run({"/bin/bash", "-c",
                              fmt::format("'{0}' mpirun --nfg 2 --timeout 2 -- '{1}' endless & sleep 1; '{0}' ps; wait",
                                          SHOAL_COMMAND, program)});
  EXPECT_TRUE(std::regex_search(listed.text, std::regex("(^|\n)libc_faults [^\n]*: 1 node, 1 worker, "))) << listed;
  const folder place;
  ASSERT_TRUE(run({SHOAL_COMMAND, "mpirun", "--nfg", "2", "--", program, "late 0"}, {"SHOAL_TRACE=" + (place / "t")})
                  .status.clean());
  const outcome traced = run({SHOAL_COMMAND, "trace", "--folder", place / "t", "--read"});
  EXPECT_TRUE(traced.has(program + " late 0 on ")) << traced;
}

// Its processes have the functions of two MPI libraries.
TEST(a_limit_on_time, ends_a_job_over_an_mpi_library) {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const words over_mpi{"-n", "2", "--nfg", "2", "--transport", "mpi", "--timeout"};
  words options = over_mpi;
  options.emplace_back("50");
  const outcome whole = run_ranks("libc_end.c", options);
  if (whole.has("there is no transport plugin") || whole.has("is in PATH"))
    GTEST_SKIP() << "Shoal was built without an MPI library, or its launcher is not there";
  EXPECT_TRUE(whole.status.clean()) << whole;
  options = over_mpi;
  options.emplace_back("3");
  const outcome got = run_ranks("libc_faults.c", options, {"endless"});
  EXPECT_EQ(got.status.shell_code(), 124) << got;
  EXPECT_TRUE(got.has("the job has run for 3 s")) << got;
}

}  // namespace

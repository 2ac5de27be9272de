// SPDX-License-Identifier: Apache-2.0
// The command as a user meets it: the program that was built is started, and its status and words are read.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "machine/hardware_counter.hpp"
#include "machine/page_choice.hpp"
#include "unit/tools/run_command.hpp"

namespace {

namespace machine = shoal::machine;
using shoal::tests::answer;

answer run(const std::string& arguments, const std::string& redirect = "2>&1") {
  return shoal::tests::run_command(arguments, redirect);
}

TEST(command, says_its_version) {
  answer got = run("--version");
  EXPECT_EQ(got.status, 0);
  EXPECT_TRUE(got.text.starts_with("shoal ")) << got.text;
}

TEST(command, every_help_has_an_example) {
  for (const char* arguments : {"--help", "info --help", "bench --help", "bench limits --help"}) {
    answer got = run(arguments);
    EXPECT_EQ(got.status, 0) << arguments;
    EXPECT_TRUE(got.has("Example:")) << got.text;
  }
}

TEST(command, help_may_be_a_word) {
  EXPECT_EQ(run("help").text, run("--help").text);
  EXPECT_EQ(run("help bench").text, run("bench --help").text);
  EXPECT_EQ(run("help bench limits").text, run("bench limits --help").text);
  EXPECT_EQ(run("help bench limits").status, 0);
  EXPECT_TRUE(run("help bfss").has("did you mean 'bfs'?"));
}

TEST(command, bench_service_shows_its_own_defaults) {
  const answer got = run("bench service --help");
  for (const char* shown : {"[1 - 10000]=1\n", "[0.001 - 86400]=2\n", "[1 - 65536]=2\n", "[1 - 1024]=1\n"})
    EXPECT_TRUE(got.has(shown)) << shown << got.text;
  EXPECT_FALSE(got.has("processors divided by nodes"));
}

TEST(command, what_is_no_number_is_refused) {
  for (const char* const words :
       {"bench priorities --link-us", "bench priorities --task-us", "bench priorities --background-us",
        "bench priorities --imbalance", "bench priorities --group-task-us", "bench service --body-us",
        "kmers --coverage", "kmers --errors"})
    for (const char* const value : {"nan", "inf", "-1", "much"}) {
      const answer got = run(std::string(words) + " " + value);
      EXPECT_EQ(got.status, 2) << words << " " << value << got.text;
      EXPECT_TRUE(got.has(value)) << words << got.text;
    }
}

TEST(command, sim_says_to_a_kernel_how_many_nodes_there_are) {
  const std::string kernel = " -- '" + shoal::tests::command_path() + "' bfs --kronecker 8 --roots 1";
  EXPECT_TRUE(run("sim --nodes 4" + kernel).has("simulated 4 nodes"));
  EXPECT_TRUE(run("sim --nodes 4" + kernel + " -n 2").has("simulated 2 nodes"));
}

TEST(command, info_shows_what_concerns_memory_alone) {
  const answer got = run("info --memory");
  EXPECT_EQ(got.status, 0) << got.text;
  for (const char* part : {"usable by Shoal", "memory nodes", "page size", "address space (ulimit -v)",
                           "of a node, for each other node", "overflow_memory", "waiting_memory"})
    EXPECT_TRUE(got.has(part)) << part << got.text;
  EXPECT_FALSE(got.has("transports")) << got.text;
  EXPECT_FALSE(got.has("steal")) << got.text;
  EXPECT_EQ(run("info --memory --transport ucx").status, 2);
}

TEST(command, nothing_asked_is_wrong_usage) {
  EXPECT_EQ(run("").status, 2);
  answer got = run("bench");
  EXPECT_EQ(got.status, 2);
  EXPECT_TRUE(got.has("limits")) << got.text;
}

TEST(command, suggests_the_nearest_name) {
  answer got = run("benhc limits");
  EXPECT_EQ(got.status, 2);
  EXPECT_TRUE(got.has("shoal: unknown subcommand 'benhc'")) << got.text;
  EXPECT_TRUE(got.has("did you mean 'bench'?")) << got.text;
  EXPECT_TRUE(run("bench limit").has("did you mean 'limits'?"));
  EXPECT_TRUE(run("bench limits --repaet 3").has("did you mean '--repeat'?"));
  EXPECT_TRUE(run("bench limits --repaet=3").has("did you mean '--repeat'?"));
}

TEST(command, mpirun_says_what_options_of_other_launchers_are_here) {
  for (const auto& [given, here] : {std::pair("--oversubscribe", "leave it out"),
                                    {"--map-by core", "-w N gives each process N workers"},
                                    {"--bind-to none", "SHOAL_PIN=off"},
                                    {"-n 2 -ppn 4", "-n N on this machine, --hosts a:2,b:2"},
                                    {"-perhost 2", "-n N on this machine, --hosts a:2,b:2"},
                                    {"-machinefile f", "--hosts FILE with a machine in each line"},
                                    {"-hostfile f", "--hosts FILE with a machine in each line"},
                                    {"--hostfile=f", "--hosts FILE with a machine in each line"},
                                    {"-genv A 1", "--env NAME=VALUE"},
                                    {"-env A 1", "--env NAME=VALUE"},
                                    {"--label -l", "--label"}}) {
    const answer got = run(std::string("mpirun ") + given + " -- /bin/true");
    EXPECT_EQ(got.status, 2) << given << got.text;
    EXPECT_TRUE(got.has("is an option of other launchers; here: ") && got.has(here)) << given << got.text;
  }
}

TEST(command, mpirun_takes_long_options_with_one_dash) {
  EXPECT_EQ(run("mpirun -np 1 -nfg 1 -timeout 50 -- /bin/true").status, 0);
  EXPECT_TRUE(run("mpirun -nfg 0 -- /bin/true").has("--nfg 0: give the ranks of each process"));
}

TEST(command, mpirun_leaves_the_words_of_the_program_alone) {
  for (const char* given : {"mpirun -n 1 -- /bin/echo -np --oversubscribe", "mpirun -n 1 /bin/echo -np --oversubscribe",
                            "mpirun --timeout=50 /bin/echo -np --oversubscribe"}) {
    const answer got = run(given);
    EXPECT_TRUE(got.has("-np --oversubscribe")) << given << got.text;
  }
}

TEST(command, points_to_the_help_where_nothing_is_near) {
  answer got = run("xylophone");
  EXPECT_EQ(got.status, 2);
  EXPECT_TRUE(got.has("`shoal --help`")) << got.text;
}

TEST(command, refuses_a_value_out_of_range) {
  answer got = run("bench limits --repeat 0");
  EXPECT_EQ(got.status, 2);
  EXPECT_TRUE(got.has("shoal: --repeat")) << got.text;
  EXPECT_EQ(run("bench limits --table-mb many").status, 2);
  EXPECT_EQ(run("bench limits --only nothing --table-mb 1").status, 2);
}

// Short output lies in a buffer until the end; what is longer fails while it is printed.
TEST(command, reports_output_that_cannot_be_written) {
  EXPECT_TRUE(run("--help", "2>&1 >/dev/full").has("No space left on device"));
  for (const char* arguments :
       {"--help", "--version", "bench --list", "bench --help", "info", "bfs --kronecker 6 --roots 1",
        "bfs --kronecker 6 --roots 1 -n 2", "bfs --kronecker 6 --roots 1 --json -",
        "bench limits --table-mb 2 --repeat 1 --seconds 0.002 --json -", "bfs --demo"}) {
    answer got = run(arguments, "2>&1 >/dev/full");
    EXPECT_EQ(got.status, 1) << arguments << ": " << got.text;
    EXPECT_TRUE(got.has("standard output could not be written")) << arguments << ": " << got.text;
  }
  EXPECT_EQ(run("--help", ">/dev/null 2>/dev/full").status, 0);
  EXPECT_EQ(run("xylophone", ">/dev/null 2>/dev/full").status, 2);
}

TEST(command, lists_the_benchmarks) {
  answer got = run("bench --list", "2>/dev/null");
  EXPECT_EQ(got.status, 0);
  EXPECT_TRUE(got.text.starts_with("limits ")) << got.text;
}

TEST(command, info_shows_the_machine_and_where_settings_come_from) {
  answer got = run("info", "2>/dev/null");
  EXPECT_EQ(got.status, 0);
  for (const char* part : {"machine\n", "memory\n", "pages\n", "settings", "from default"}) {
    EXPECT_TRUE(got.has(part)) << part << " in " << got.text;
  }
}

TEST(command, mpi_threads_says_what_to_do_about_what_is_not_there) {
  const answer program = run("mpi-threads -- ./no-such-program");
  EXPECT_EQ(program.status, 2);
  EXPECT_TRUE(program.has("there is no program ./no-such-program; name the launcher's command line")) << program.text;
  EXPECT_TRUE(run("mpi-threads -- no-such-launcher -n 2 x").has("no-such-launcher in PATH")) << program.text;
  const answer file = run("mpi-threads --before no-such-file -- true");
  EXPECT_EQ(file.status, 2);
  EXPECT_TRUE(file.has("no-such-file cannot be read (No such file or directory); create it with")) << file.text;
  EXPECT_TRUE(run("mpi-threads --library lam -- true").has("openmpi,mpich,custom"));
}

// A network library that finds no thread ends its process.
TEST(command, info_shows_all_that_it_can_where_no_more_threads_are_allowed) {
  const std::string as_user = ::geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " : "";
  const std::string command = "'" + shoal::tests::command_path() + "' ";
  if (std::system((as_user + command + "--version >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "another user than root cannot run the command here";
  for (const char* limit : {"1", "3"}) {
    const answer got =
        shoal::tests::run_line(as_user + "prlimit --nproc=" + limit + " " + command + "info 2>/dev/null");
    EXPECT_EQ(got.status, 0) << got.text;
    EXPECT_TRUE(got.has("\ntransports\n")) << got.text;
    EXPECT_TRUE(got.has("from default")) << got.text;
  }
}

TEST(command, limits_writes_nothing_but_json_to_standard_output) {
  answer got = run("bench limits --table-mb 2 --repeat 1 --seconds 0.002 --json -", "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  nlohmann::json object = nlohmann::json::parse(got.text);
  for (const char* name : {"update_plain_1t_4k", "update_plain_all_2m", "update_atomic_1t_2m", "update_atomic_all_4k",
                           "read_1t_4k", "read_all_2m", "batched_update", "batched_read", "batched_blocking_16384",
                           "window_update", "memcpy_1t", "memcpy_all", "pingpong_ns", "context_ns"}) {
    EXPECT_TRUE(object.at("metrics").contains(name)) << name;
  }
  for (const auto& [name, passed] : object.at("checks").items()) EXPECT_EQ(passed, true) << name;
  EXPECT_EQ(object.at("command").at(1), "bench");
}

TEST(command, pages_compares_the_sizes_that_there_are_and_says_what_there_is_not) {
  answer got = run("bench pages --min-mb 4 --max-mb 4 --repeat 1 --seconds 0.002 --json -", "2>&1 >/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("kernel gather, ns per read")) << got.text;
  const bool giant = machine::read_page_pool(machine::k_giant_page_bytes).free_pages != 0;
  EXPECT_EQ(got.has("no measurements with 1g"), !giant) << got.text;
  const bool counter = machine::hardware_counter::of_tlb_misses().why_not().empty();
  EXPECT_EQ(got.has("no TLB misses: "), !counter) << got.text;
  got = run("bench pages --min-mb 4 --max-mb 4 --repeat 1 --seconds 0.002 --json -", "2>/dev/null");
  nlohmann::json object = nlohmann::json::parse(got.text);
  for (const char* name : {"ns_per_access_4k_4mb", "ns_per_update_4k_4mb", "stream_4k_4mb", "gather_4k_4mb",
                           "histogram_4k_4mb", "randperm_4k_4mb"}) {
    ASSERT_TRUE(object.at("metrics").contains(name)) << name;
    EXPECT_GT(object.at("metrics").at(name).at("median").get<double>(), 0) << name;
  }
  for (const char* name : {"sums", "kernels", "small_pages"}) EXPECT_EQ(object.at("checks").at(name), true) << name;
  EXPECT_EQ(object.at("metrics").contains("gather_1g_4mb"), giant);
  EXPECT_EQ(object.at("metrics").contains("tlb_misses_gather_4k_4mb"), counter);
}

TEST(command, info_tells_which_pages_are_given) {
  answer got = run("info --memory");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("global memory (pages)  huge-try: ")) << got.text;
  EXPECT_TRUE(got.has("stacks (stack_pages)   4k: ")) << got.text;
  const std::string command = "'" + shoal::tests::command_path() + "' ";
  got = shoal::tests::run_line("SHOAL_PAGES=4k SHOAL_STACK_PAGES=1g " + command + "info --memory 2>&1");
  EXPECT_TRUE(got.has("global memory (pages)  4k: ")) << got.text;
  if (machine::read_page_pool(machine::k_giant_page_bytes).free_pages == 0) {
    EXPECT_TRUE(got.has("1g: refused: this cannot be on 1 GiB pages")) << got.text;
  }
  got = shoal::tests::run_line("SHOAL_PAGES=3m " + command + "info --memory 2>&1");
  EXPECT_NE(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("'3m'")) << got.text;
}

TEST(command, a_result_that_cannot_be_written_is_a_failure) {
  answer got = run("bench limits --only context --table-mb 2 --repeat 1 --seconds 0.002 --json /nonexistent-folder/x");
  EXPECT_EQ(got.status, 1);
  EXPECT_TRUE(got.text.starts_with("shoal: cannot write")) << got.text;  // before it measures
}

}  // namespace

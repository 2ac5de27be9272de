// SPDX-License-Identifier: Apache-2.0
// Tests shoal mpicc, mpicxx and mpif90: what build systems and makefiles ask of a compiler, and that what they build
// starts with several ranks in a process.
#include <fstream>
#include <regex>

#include "machine/process.hpp"
#include "tests/cluster/mpi_program.hpp"

namespace {

using shoal::test::folder;
using shoal::test::outcome;
using shoal::test::run;

using words = std::vector<std::string>;

// Whether it has the words, with blanks in a row as one.
bool has(const outcome& got, const std::string& text) {
  static const std::regex blanks(" +");
  return std::regex_replace(got.text, blanks, " ").find(text) != std::string::npos;
}

TEST(the_wrapper_compilers, take_words_that_are_subcommands_elsewhere) {
  const folder place;
  const std::string source = std::string(SHOAL_CONFORMANCE) + "/libc_end.c";
  const outcome got =
      run(shoal::test::in_shell("cd " + (place / "") + ";", {SHOAL_COMMAND, "mpicc", "-o", "sort", source}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(std::filesystem::exists(place / "sort"));
}

// As HPCC is linked: nothing but the start-up objects asks for main().
TEST(the_wrapper_compilers, find_main_in_an_archive) {
  const folder place;
  const std::string source = std::string(SHOAL_CONFORMANCE) + "/libc_end.c";
  const std::string archive = place / "libwhole.a";
  ASSERT_TRUE(run({SHOAL_COMMAND, "mpicc", "-c", source, "-o", place / "main.o"}).status.clean());
  ASSERT_TRUE(run({"ar", "rc", archive, place / "main.o"}).status.clean());
  const outcome linked = run({SHOAL_COMMAND, "mpicc", archive, "-o", place / "whole"});
  ASSERT_TRUE(linked.status.clean()) << linked;
  const outcome got = run({SHOAL_COMMAND, "mpirun", "-n", "1", "--nfg", "2", "--", place / "whole"});
  EXPECT_TRUE(got.status.clean()) << got;
}

// As scripts ask whether a program links.
TEST(the_wrapper_compilers, take_a_program_from_standard_input) {
  const folder place;
  const std::string source = std::string(SHOAL_CONFORMANCE) + "/libc_end.c";
  const outcome linked =
      run(shoal::test::in_shell("cat " + source + " |", {SHOAL_COMMAND, "mpicc", std::string("-I") + SHOAL_CONFORMANCE,
                                                         "-x", "c", "-", "-o", place / "piped"}));
  ASSERT_TRUE(linked.status.clean()) << linked;
  const outcome got = run({SHOAL_COMMAND, "mpirun", "-n", "1", "--nfg", "2", "--", place / "piped"});
  EXPECT_TRUE(got.status.clean()) << got;
}

// Options come first in many makefiles. The line of the call is that of the program, not of a procedure of the library.
TEST(the_wrapper_compilers, compile_fortran_and_reports_name_its_lines) {
  if (!std::filesystem::exists(shoal::machine::find_program("gfortran"))) GTEST_SKIP() << "gfortran is not installed";
  const folder place;
  const std::string source = std::string(SHOAL_CONFORMANCE) + "/fortran_deadlock.f90";
  const outcome compiled = run({SHOAL_COMMAND, "mpif90", "-o", place / "stops", "-g", source});
  ASSERT_TRUE(compiled.status.clean()) << compiled;
  const outcome got = run({SHOAL_COMMAND, "mpirun", "-n", "2", "--nfg", "2", "--", place / "stops"});
  EXPECT_EQ(got.status.shell_code(), 3) << got;
  EXPECT_TRUE(has(got, "0 MPI_Recv fortran_deadlock.f90:10 (MAIN__) a message of rank 1 with tag 5")) << got;
  EXPECT_TRUE(has(got, "1-3 MPI_Barrier fortran_deadlock.f90:12 (MAIN__) the other members' calls")) << got;
}

// What build systems ask for, by the names of other libraries' wrappers.
TEST(the_wrapper_compilers, show_what_they_would_do) {
  const auto shown = [](const char* compiler, const char* option) {
    const outcome got = run({SHOAL_COMMAND, compiler, option});
    EXPECT_TRUE(got.status.clean()) << got;
    return got.text;
  };
  const std::string compile = shown("mpicc", "-showme:compile");
  EXPECT_TRUE(compile.starts_with("-fPIC -I")) << compile;
  EXPECT_EQ(shown("mpicc", "--showme:incdirs"), compile.substr(std::string("-fPIC -I").size()));
  EXPECT_EQ(shown("mpicxx", "-showme:command"), "g++\n");
  EXPECT_EQ(shown("mpicc", "-showme:libs"), "mpi_abi\n");
  const std::string link = shown("mpicc", "-showme:link");
  EXPECT_NE(shown("mpicc", "-show").find(link), std::string::npos) << link;
  for (const char* const same : {"--show", "--showme", "-compile_info", "-compile-info", "-link_info", "-link-info"})
    EXPECT_EQ(shown("mpicc", same), shown("mpicc", "-show")) << same;
  EXPECT_FALSE(run({SHOAL_COMMAND, "mpicc", "-showme:colour"}).status.clean());
}

// As modules of Python are, which a program loads that knows nothing of MPI.
TEST(the_wrapper_compilers, link_a_shared_library_with_mpi) {
  const folder place;
  const std::string source = std::string(SHOAL_CONFORMANCE) + "/zero.c";
  const outcome linked = run({SHOAL_COMMAND, "mpicc", "-shared", source, "-o", place / "libmodule.so"});
  ASSERT_TRUE(linked.status.clean()) << linked;
  const outcome got = run({"ldd", "-r", place / "libmodule.so"});
  EXPECT_TRUE(got.has("libmpi_abi.so.1")) << got;
  EXPECT_FALSE(got.has("undefined symbol")) << got;
}

// The program's file, of a source that ends with status 0 if its ranks are two and their globals their own.
const char* const k_two_ranks = R"(
#include <mpi.h>
static int of_file;
int main(int argc, char** argv) {
  int rank = -1, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  of_file += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const int bad = size != 2 || of_file != rank;
  MPI_Finalize();
  return bad;
}
)";

std::string two_ranks(const folder& place) {
  std::ofstream(place / "two.c") << k_two_ranks;
  return place / "two.c";
}

outcome run_two(const std::string& program, const words& options = {}) {
  words command{SHOAL_COMMAND, "mpirun", "-n", "1", "--nfg", "2"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", program});
  return run(command);
}

// What build systems add by themselves, or people to make programs small.
TEST(the_wrapper_compilers, take_flags_that_do_not_suit_programs_of_many_copies) {
  const folder place;
  const std::string source = two_ranks(place);
  for (const words& flags : {words{"-fvisibility=hidden"}, words{"-pie", "-fPIE"}, words{"-no-pie", "-fno-pie"},
                             words{"-flto", "-O2"}, words{"-Wl,--gc-sections", "-ffunction-sections"}}) {
    words command{SHOAL_COMMAND, "mpicc", source, "-o", place / "two"};
    command.insert(command.end(), flags.begin(), flags.end());
    const outcome linked = run(command);
    ASSERT_TRUE(linked.status.clean()) << flags.front() << linked;
    const outcome got = run_two(place / "two");
    EXPECT_TRUE(got.status.clean()) << flags.front() << got;
  }
  for (const char* fixed : {"-static", "-static-pie"}) {
    const outcome refused = run({SHOAL_COMMAND, "mpicc", source, "-o", place / "two", fixed});
    EXPECT_EQ(refused.status.shell_code(), 2) << refused;
    EXPECT_TRUE(refused.has(std::string("leave ") + fixed + " out")) << refused;
  }
}

// As packages have it that may be moved: the program's libraries are beside it.
TEST(the_wrapper_compilers, build_programs_that_find_their_libraries_beside_themselves) {
  const folder place;
  std::ofstream(place / "part.c") << "int part(void) { return 42; }\n";
  std::ofstream(place / "whole.c") << "#include <mpi.h>\nint part(void);\n"
                                      "int main(void) { MPI_Init(0, 0); MPI_Finalize(); return part() != 42; }\n";
  std::filesystem::create_directory(place / "lib");
  ASSERT_TRUE(run({"cc", "-shared", "-fPIC", place / "part.c", "-o", place / "lib/libpart.so"}).status.clean());
  const outcome linked = run({SHOAL_COMMAND, "mpicc", place / "whole.c", "-o", place / "whole", "-L" + (place / "lib"),
                              "-lpart", "-Wl,-rpath,$ORIGIN/lib"});
  ASSERT_TRUE(linked.status.clean()) << linked;
  const outcome got = run_two(place / "whole");
  EXPECT_TRUE(got.status.clean()) << got;
  const outcome more = run_two(place / "whole", {"--env", "LD_LIBRARY_PATH=/nowhere"});
  EXPECT_TRUE(more.status.clean()) << more;
}

// Launchers of compilers, and compilers in folders whose names have blanks.
TEST(the_wrapper_compilers, call_compilers_of_two_words_or_with_blanks) {
  const folder place;
  const std::string source = two_ranks(place);
  const outcome two = run({SHOAL_COMMAND, "mpicc", source, "-o", place / "a"}, {"SHOAL_MPI_CC=env gcc"});
  ASSERT_TRUE(two.status.clean()) << two;
  EXPECT_TRUE(run_two(place / "a").status.clean());
  std::filesystem::create_directory(place / "my tools");
  std::filesystem::create_symlink(shoal::machine::find_program("gcc"), place / "my tools/gcc");
  const outcome blank =
      run({SHOAL_COMMAND, "mpicc", source, "-o", place / "b"}, {"SHOAL_MPI_CC=" + (place / "my tools/gcc")});
  ASSERT_TRUE(blank.status.clean()) << blank;
  EXPECT_TRUE(run_two(place / "b").status.clean());
  // What -show prints a shell can take.
  const outcome shown = run({SHOAL_COMMAND, "mpicc", "-show", "-DTEXT=\"a b\"", "x.c"});
  EXPECT_TRUE(shown.has("'-DTEXT=\"a b\"'")) << shown;
}

// As CMake asks for its macros.
TEST(the_wrapper_compilers, give_c_no_options_of_fortran) {
  if (!std::filesystem::exists(shoal::machine::find_program("gfortran"))) GTEST_SKIP() << "gfortran is not installed";
  const folder place;
  std::ofstream(place / "part.c") << "int part;\n";
  std::ofstream(place / "whole.f90") << "end program\n";
  const outcome macros = run({SHOAL_COMMAND, "mpif90", "-E", "-dM", "-x", "c", "/dev/null"});
  EXPECT_TRUE(macros.status.clean() && macros.has("__GNUC__") && !macros.has("warning")) << macros;
  const outcome compiled = run({SHOAL_COMMAND, "mpif90", "-c", place / "part.c", "-o", place / "part.o"});
  EXPECT_TRUE(compiled.status.clean() && !compiled.has("warning")) << compiled;
  for (const words& given : {words{place / "whole.f90"}, words{place / "whole.f90", place / "part.c"}, words{}}) {
    words command{SHOAL_COMMAND, "mpif90", "-show"};
    command.insert(command.end(), given.begin(), given.end());
    EXPECT_TRUE(run(command).has("-fno-backtrace")) << given.size();
  }
}

TEST(the_wrapper_compilers, say_which_compiler_there_is_not_and_what_to_do) {
  const folder place;
  const std::string empty = "PATH=" + (place / "");
  const outcome none = run({SHOAL_COMMAND, "mpif90", "x.f90"}, {empty, "SHOAL_MPI_FC="});
  EXPECT_EQ(none.status.shell_code(), 2) << none;
  EXPECT_TRUE(
      none.has("there is no gfortran in PATH; install it (Debian's package gfortran), or name another compiler in "
               "SHOAL_MPI_FC"))
      << none;
  const outcome wrong = run({SHOAL_COMMAND, "mpicc", "x.c"}, {"SHOAL_MPI_CC=gccc -m64"});
  EXPECT_EQ(wrong.status.shell_code(), 2) << wrong;
  EXPECT_TRUE(wrong.has("SHOAL_MPI_CC names gccc, and there is no such program")) << wrong;
  EXPECT_TRUE(wrong.has("unset it for gcc")) << wrong;
}

TEST(mpirun, gives_ranks_the_library_path_that_was_asked_for) {
  const folder place;
  std::ofstream(place / "says.c")
      << "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
         "int main(void) { MPI_Init(0, 0); const char* p = getenv(\"LD_LIBRARY_PATH\");\n"
         "printf(\"path '%s'\\n\", p == NULL ? \"none\" : p); MPI_Finalize(); return 0; }\n";
  ASSERT_TRUE(run({SHOAL_COMMAND, "mpicc", place / "says.c", "-o", place / "says"}).status.clean());
  const outcome got = run_two(place / "says", {"--env", "LD_LIBRARY_PATH=/some/where"});
  EXPECT_TRUE(got.has("/some/where'")) << got;
}

TEST(mpirun, refuses_times_that_are_none) {
  for (const char* none : {"nan", "-1", "soon"}) {
    const outcome got = run({SHOAL_COMMAND, "mpirun", "--timeout", none, "--", "/bin/true"});
    EXPECT_EQ(got.status.shell_code(), 2) << none << got;
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The program that `shoal mpirun` starts in every process: loads one private copy of an MPI program per rank and runs
// them as tasks.
//   shoal-mpi-host RANKS STACK_BYTES PROGRAM [ARGS]
#include <fmt/format.h>
#include <getopt.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "machine/descriptor.hpp"
#include "machine/program_copies.hpp"
#include "rank/abi/rank_exit.hpp"
#include "runtime/job.hpp"
#include "runtime/mpi_job.hpp"
#include "shoal/error.hpp"
#include "shoal/run.hpp"

namespace {

using shoal::rank::rank_state;

// The program's copies, by the rank's number in the process.
std::vector<shoal::machine::program_copy> copies;

int run_copy(rank_state& me, int argc, char** argv) {
  shoal::machine::program_copy mine = std::move(copies[static_cast<std::size_t>(me.local)]);
  auto* const main_function = reinterpret_cast<int (*)(int, char**, char**)>(mine.find("main"));
  std::vector<std::string> words(argv, argv + argc);  // a program may change its own
  std::vector<char*> own;
  for (std::string& w : words) own.push_back(w.data());
  own.push_back(nullptr);
  optind = 0;  // glibc begins anew
  shoal::rank::rank_exit end;
  me.exit_to = &end;
  const int status = setjmp(end.place) == 0 ? main_function(argc, own.data(), environ) : end.status;
  me.exit_to = nullptr;
  if (me.stage == shoal::rank::life::initialized && !me.by_session)
    me.job.abort_job(me.job, status == 0 ? 1 : status,
                     fmt::format("rank {} has ended with status {} without MPI_Finalize", me.world, status));
  return status;
}

int run(int argc, char** argv) {
  if (argc < 4) throw shoal::error(shoal::errc::invalid_argument, "start MPI programs with shoal mpirun");
  shoal::runtime::mpi_program p;
  p.ranks_per_node = static_cast<unsigned>(std::stoul(argv[1]));
  p.stack_bytes = std::stoull(argv[2]);
  p.run = [=](rank_state& me) { return run_copy(me, argc - 3, argv + 3); };
  // Errors of Fortran's input and output show where they happened, though the program is compiled without handlers of signals.
  ::setenv("GFORTRAN_ERROR_BACKTRACE", "1", 0);
  shoal::machine::program_copies program(argv[3], {"libgfortran.so."});  // units and files of Fortran
  for (unsigned i = 0; i < p.ranks_per_node; ++i) copies.push_back(program.load());
  shoal::runtime::set_mpi_program(std::move(p));
  int none = 0;
  return shoal::detail::run(&none, nullptr, {}, [] { return shoal::runtime::run_ranks(); });
}

}  // namespace

int main(int argc, char** argv) {
  shoal::machine::open_standard_descriptors();
  const int status = shoal::runtime::status_of([&] { return run(argc, argv); });
  std::fflush(nullptr);
  return status;
}

// SPDX-License-Identifier: Apache-2.0
// The program that `shoal mpirun` starts in every process: loads one private copy of an MPI program per rank and runs
// them as tasks.
//   shoal-mpi-host RANKS STACK_BYTES [--whole-lines] [--label] [--profile=FILE] [--shared-globals] [--debug=FILE]
//   [--libraries=FOLDERS] PROGRAM [ARGS]
//   --whole-lines: there are several ranks, here or in other processes, and none writes into another one's line
//   --libraries=FOLDERS: what LD_LIBRARY_PATH has in front for the loader, and not for what ranks start
//   --debug: under gdb, which reads that file for each copy (gdb/)
//   shoal-mpi-host --functions       the functions of MPI and whether the library has them, for `shoal info --mpi`
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "machine/descriptor.hpp"
#include "machine/process.hpp"
#include "machine/program_copies.hpp"
#include "rank/abi/function_list.hpp"
#include "rank/abi/rank_exit.hpp"
#include "runtime/debug_marks.hpp"
#include "runtime/job.hpp"
#include "runtime/mpi_job.hpp"
#include "shoal/error.hpp"
#include "shoal/run.hpp"
#include "tools/mpi-host/call_main.hpp"
#include "tools/mpi-host/rank_libc.hpp"

namespace {

using shoal::rank::rank_state;

// What the system keeps of the status of a process.
constexpr int k_status_bits = 0xff;

using program_main = int (*)(int, char**, char**);

// By start.c; else by its name.
program_main main_of(const shoal::machine::program_copy& copy) {
  if (const void* const told = copy.find("shoal_mpi_main"); told != nullptr)
    return *static_cast<const program_main*>(told);
  void* const named = copy.find("main");
  if (named == nullptr)
    throw shoal::error(shoal::errc::unsupported,
                       "the program does not show its main(); link it with shoal mpicc, mpicxx or mpif90");
  return reinterpret_cast<program_main>(named);
}

// Calls main() and what the program has registered for its end. exit(), which handlers may call, too, comes back here.
int run_to_end(rank_state& me, shoal::host::rank_libc& libc, const shoal::machine::program_copy& copy, int argc,
               char** argv) {
  shoal::rank::rank_exit end;
  me.exit_to = &end;
  volatile bool has_begun = false;
  static_cast<void>(setjmp(end.place));
  if (!has_begun) {
    has_begun = true;
    end.status = shoal::host::call_main(main_of(copy), argc, argv, *libc.environment);
  }
  libc.run_exit_handlers(end.status);
  me.exit_to = nullptr;
  return end.status;
}

// getopt of the program begins anew for a rank that runs the same copy as others.
void begin_options(const shoal::machine::program_copy& shared) {
  if (void* const next = shared.find("optind"); next != nullptr) *static_cast<int*>(next) = 1;
}

// A debugger learns of many copies at once much sooner than of one after the other. The ranks go on in order.
void await_other_copies(const rank_state& me) {
  static std::atomic<int> loaded{0};  // partners: the other ranks
  static std::atomic<int> next{-1};   // the same
  if (loaded.fetch_add(1, std::memory_order_acq_rel) + 1 == me.job.size_here()) {
    shoal_debug_loaded();
    next.store(0, std::memory_order_release);
  }
  while (next.load(std::memory_order_acquire) != me.local) me.home.yield();
  next.store(me.local + 1, std::memory_order_release);
}

// The copy is loaded here, so that its constructors run as the rank, and on its thread; or all ranks have one.
int run_copy(shoal::machine::program_copies& program, const shoal::machine::program_copy* shared, rank_state& me,
             int argc, char** argv, bool is_debugged) {
  shoal::host::rank_libc& libc = shoal::host::libc_of(me);
  libc.world = me.world;
  shoal::machine::program_copy own;
  if (shared == nullptr) {
    own = program.load();
  } else {
    shoal::host::share_copy(libc);
    begin_options(*shared);
  }
  if (is_debugged) await_other_copies(me);
  std::vector<std::string> words(argv, argv + argc);  // a program may change its own
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  const int status = run_to_end(me, libc, shared != nullptr ? *shared : own, argc, pointers.data());
  shoal::host::finish_output(libc);
  if (me.stage == shoal::rank::life::initialized && !me.by_session)
    me.job.abort_job(me.job, status == 0 ? 1 : status,
                     fmt::format("rank {} has ended with status {} without MPI_Finalize", me.world, status));
  shoal::host::forget_thread_settings(me);
  shoal::host::forget_handlers(libc);
  // Signals, threads and debuggers may still want the code of a rank that has ended; a debugger is slow to learn that
  // copies have gone. Its destructors run at the end of the process then.
  if (libc.has_made_threads || libc.has_set_handlers || is_debugged || shoal::host::ranks_here() == 1)
    own.keep();
  else if (shared == nullptr)
    shoal::runtime::name_traced_code(me);
  return status & k_status_bits;
}

int print_functions() {
  const auto all = shoal::rank::abi::function_list();
  const auto missing = std::ranges::count_if(all, [](const auto& f) { return !f.supported; });
  fmt::print("functions of MPI 5.0's ABI: {}; supported: {}\nnot yet, these report MPI_ERR_UNSUPPORTED_OPERATION:\n",
             all.size(), static_cast<std::ptrdiff_t>(all.size()) - missing);
  for (const auto& f : all)
    if (!f.supported) fmt::print("  {}\n", f.name);
  return 0;
}

constexpr std::string_view k_profile = "--profile=";
constexpr std::string_view k_debug = "--debug=";
constexpr std::string_view k_libraries = "--libraries=";

// The loader has read it when this process began.
void take_from_library_path(std::string_view folders) {
  const char* const value = std::getenv("LD_LIBRARY_PATH");
  if (value == nullptr || !std::string_view(value).starts_with(folders)) return;
  const std::string rest(std::string_view(value).substr(folders.size()));
  if (rest.empty())
    ::unsetenv("LD_LIBRARY_PATH");
  else
    ::setenv("LD_LIBRARY_PATH", rest.c_str() + 1, 1);  // behind a colon
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--functions") return print_functions();
  bool label = false;
  bool whole_lines = false;
  bool is_shared = false;
  std::optional<shoal::runtime::rank_profile_wish> profile;
  std::string shown;
  int first = 3;
  for (; first < argc && std::string_view(argv[first]).starts_with("--"); ++first) {
    const std::string_view word = argv[first];
    label = label || word == "--label";
    whole_lines = whole_lines || word == "--whole-lines";
    is_shared = is_shared || word == "--shared-globals";
    if (word.starts_with(k_profile)) profile.emplace().file = word.substr(k_profile.size());
    if (word.starts_with(k_debug)) shown = word.substr(k_debug.size());
    if (word.starts_with(k_libraries)) take_from_library_path(word.substr(k_libraries.size()));
  }
  if (argc <= first) throw shoal::error(shoal::errc::invalid_argument, "start MPI programs with shoal mpirun");
  shoal::runtime::mpi_program p;
  p.ranks_per_node = static_cast<unsigned>(std::stoul(argv[1]));
  p.stack_bytes = std::stoull(argv[2]);
  p.command.assign(argv + first, argv + argc);
  if (!shown.empty()) ::unsetenv("LD_AUDIT");  // not for what the ranks start
  ::program_invocation_name = argv[first];     // for messages of the C library
  ::program_invocation_short_name = ::basename(argv[first]);
  shoal::machine::name_process(::program_invocation_short_name);  // for `shoal ps`, which shows it, and for ps and top
  const std::vector<std::string> private_libraries{"libgfortran.so."};  // units and files of Fortran
  const auto program = std::make_shared<shoal::machine::program_copies>(argv[first], private_libraries, shown);
  if (profile) {
    profile->copy_bytes = is_shared ? 0 : program->private_bytes();
    profile->shared_bytes = program->shared_bytes() + (is_shared ? program->private_bytes() : 0);
    profile->copy_mappings = is_shared ? 0 : program->mappings();
    p.profile = profile;
  }
  static shoal::machine::program_copy shared;
  p.run = [=](rank_state& me) {
    return run_copy(*program, is_shared ? &shared : nullptr, me, argc - first, argv + first, !shown.empty());
  };
  // Errors of Fortran's input and output show where they happened, though the program is compiled without handlers of signals.
  ::setenv("GFORTRAN_ERROR_BACKTRACE", "1", 0);
  const shoal::runtime::config c = shoal::runtime::read_config(shoal::runtime::all_settings());
  const bool is_simulated = c.transport == "sim";  // all nodes are here
  shoal::host::make_rank_libcs(p.ranks_per_node * (is_simulated ? c.nodes : 1), is_simulated);
  if (shoal::host::ranks_here() > 1 || whole_lines || label) shoal::host::split_output(label);
  shoal::host::name_faults();
  if (is_shared) shared = program->load();  // its constructors run as no rank
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

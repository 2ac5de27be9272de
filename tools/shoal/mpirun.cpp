// SPDX-License-Identifier: Apache-2.0
// shoal mpirun: runs an MPI program with many ranks per process. It starts processes as `shoal run` does, each a host
// that loads a copy of the program per rank.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "launch/hosts_launch.hpp"
#include "machine/copied_image.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/program_copies.hpp"
#include "runtime/job.hpp"
#include "runtime/profile_report.hpp"
#include "runtime/start.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/mpi_paths.hpp"
#include "tools/shoal/mpi_sweep.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct mpirun_request {
  unsigned processes = 1;
  bool has_processes = false;  // the user says how many
  std::string nfg = "1";
  unsigned workers = 1;
  bool has_workers = false;
  std::string transport = "auto";
  std::string hosts;
  std::string remote_shell = "ssh";
  unsigned stack_mb = 8;
  bool label = false;
  bool shared_globals = false;
  bool debug = false;
  std::string profile;  // a file, or k_no_file; empty: none is wanted
  unsigned repeat = 1;
  std::string sweep;   // a file for what several numbers of ranks took; empty: none
  double seconds = 0;  // 0: as long as it takes
  std::vector<std::string> environment;
  std::vector<std::string> program;
};

// The program as a host can load it. Others are started as they are, with one rank in each process: scripts, and
// programs that other compilers have built for the standard ABI.
std::optional<machine::program_copies> copies_of(const std::string& program, std::span<const unsigned> ranks) {
  try {
    return std::optional<machine::program_copies>(std::in_place, program);
  } catch (const error& e) {
    if (std::ranges::all_of(ranks, [](unsigned n) { return n == 1; })) return std::nullopt;
    throw error(errc::invalid_argument,
                fmt::format("--nfg {}: {} (shoal mpicc, mpicxx and mpif90 do both), or start it with --nfg 1",
                            fmt::join(ranks, ","), e.what()));
  }
}

// Started without its own launcher, such a program would run as so many jobs of one rank.
void refuse_other_library(const std::string& program) {
  for (const std::string& library : machine::copied_image::libraries_of(program)) {
    for (const std::string_view other : {"libmpi.so", "libmpich.so", "libmpi_mpifh.so", "libmpichfort.so"})
      if (library.starts_with(other))
        throw error(errc::invalid_argument,
                    fmt::format("{} is linked to another MPI library, {}; compile it with shoal mpicc, mpicxx or "
                                "mpif90, or start it with that library's mpirun",
                                program, library));
  }
}

std::string find_mpi_program(const std::string& name) {
  std::string found = machine::find_program(name);
  std::error_code ignored;
  if (!std::filesystem::exists(found, ignored))
    throw error(errc::not_found, name.find('/') == std::string::npos
                                     ? fmt::format("there is no program {} in PATH; is it ./{}?", name, name)
                                     : fmt::format("there is no program {}", name));
  if (std::filesystem::is_directory(found, ignored))
    throw error(errc::invalid_argument, fmt::format("{} is a folder, no program", found));
  if (::access(found.c_str(), X_OK) != 0)
    throw error(errc::invalid_argument, fmt::format("{} may not be executed (chmod +x makes it a program)", found));
  refuse_other_library(found);
  return found;
}

// "NAME=VALUE", or "NAME" for the value that it has here.
std::vector<std::string> read_environment(const std::vector<std::string>& options) {
  std::vector<std::string> all;
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    const std::string name = option.substr(0, equals);
    if (name.empty()) throw error(errc::invalid_argument, fmt::format("--env {}: give NAME=VALUE", option));
    const char* const here = equals == std::string::npos ? std::getenv(name.c_str()) : nullptr;
    if (equals == std::string::npos && here == nullptr)
      throw error(errc::invalid_argument,
                  fmt::format("--env {}: there is no such variable here; give --env {}=VALUE", name, name));
    all.push_back(here == nullptr ? option : name + "=" + here);
  }
  return all;
}

// What the job's processes have there: by --env, the last one given, or here.
std::string library_path(const std::vector<std::string>& environment) {
  static constexpr std::string_view k_name = "LD_LIBRARY_PATH=";
  const auto given = std::find_if(environment.rbegin(), environment.rend(),
                                  [](const std::string& e) { return e.starts_with(k_name); });
  if (given != environment.rend()) return given->substr(k_name.size());
  const char* const here = std::getenv("LD_LIBRARY_PATH");
  return here == nullptr ? "" : here;
}

// Folders for the loader, in front of the others.
void add_library_path(runtime::start_request& job, const std::string& folders) {
  const std::string others = library_path(job.environment);
  job.environment.push_back("LD_LIBRARY_PATH=" + folders + (others.empty() ? "" : ":" + others));
}

constexpr unsigned k_most_processes = 256;
constexpr const char* k_no_file = "-";

// The ranks may have another working directory. Of several runs each has a file.
std::string profile_file(const mpirun_request& request, unsigned ranks, bool several) {
  if (request.profile == k_no_file) return {};
  const std::string file = std::filesystem::absolute(request.profile).string();
  return several ? runtime::numbered_file(file, ranks) : file;
}

// gdb in the place of this process, on a host that is a job by itself.
[[noreturn]] void debug(const mpi_paths& mpi, const runtime::start_request& job) {
  std::vector<std::string> command{
      machine::find_program("gdb"), "-q", "-ix", mpi.gdb, "-ex", "shoal prepare", "--args"};
  if (!std::filesystem::exists(command.front()))
    throw error(errc::not_found, "--debug needs gdb, which is not installed (Debian's package gdb)");
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  machine::become(command, job.environment);
}

void check_debug(const mpirun_request& request, unsigned ranks, bool several) {
  if (!request.debug) return;
  if (several) throw error(errc::invalid_argument, "--debug is for one run: give one number of ranks, and no --repeat");
  if (request.processes != 1 || !request.hosts.empty())
    throw error(errc::invalid_argument,
                fmt::format("--debug is for one process on this machine: give -n 1 --nfg {} instead, with all ranks in "
                            "that process",
                            request.processes * ranks));
  if (request.seconds > 0) throw error(errc::invalid_argument, "--debug waits for its user: leave --timeout out");
}

// What is started, and what runs it.
struct what_runs {
  std::string program;
  std::optional<machine::program_copies> copies;
  mpi_paths mpi;
};

void refuse_without_copies(const mpirun_request& request) {
  for (const auto& [is_given, option] : {std::pair{request.debug, "--debug"},
                                         {!request.profile.empty(), "--profile"},
                                         {request.label, "--label"},
                                         {request.shared_globals, "--shared-globals"}})
    if (is_given)
      throw error(errc::invalid_argument,
                  fmt::format("{} needs a program that shoal mpicc, mpicxx or mpif90 has built", option));
}

runtime::start_request job_of(const mpirun_request& request, const what_runs& what, unsigned ranks, bool several) {
  // Of several ranks, whether they are in one process or not. A launcher does not say yet how many there are.
  const bool whole_lines = ranks > 1 || request.processes > 1 || request.label || runtime::is_launched();
  runtime::start_request job;
  if (!request.hosts.empty()) job.hosts = launch::parse_hosts(request.hosts);
  job.nodes = request.processes;
  job.ranks_per_node = ranks;
  job.remote_shell = request.remote_shell;
  job.environment = read_environment(request.environment);
  if (what.copies) {
    job.arguments = {what.mpi.host, std::to_string(ranks), std::to_string(std::size_t{request.stack_mb} << 20)};
    if (request.label) job.arguments.emplace_back("--label");
    if (whole_lines) job.arguments.emplace_back("--whole-lines");
    if (request.shared_globals) job.arguments.emplace_back("--shared-globals");
    if (!request.profile.empty()) job.arguments.push_back("--profile=" + profile_file(request, ranks, several));
    if (const std::vector<std::string> folders = what.copies->origin_folders(); !folders.empty()) {
      const std::string joined = fmt::format("{}", fmt::join(folders, ":"));
      job.arguments.push_back("--libraries=" + joined);
      add_library_path(job, joined);
    }
  } else {
    refuse_without_copies(request);
    add_library_path(job, what.mpi.library);
  }
  job.arguments.push_back(what.program);
  job.arguments.insert(job.arguments.end(), request.program.begin() + 1, request.program.end());
  job.environment.push_back("SHOAL_WORKERS=" + std::to_string(request.workers));
  // Each record of a Fortran program leaves its library by itself, for whole lines of ranks.
  if (whole_lines && what.copies) job.environment.emplace_back("GFORTRAN_UNBUFFERED_PRECONNECTED=y");
  job.limit_ns = static_cast<std::int64_t>(request.seconds * 1e9);
  return job;
}

ranks_limits limits_of(const mpirun_request& request, const what_runs& what) {
  ranks_limits limits{.processes = request.hosts.empty() ? request.processes : 1, .workers = request.workers};
  limits.memory_bytes = machine::memory_info().usable_bytes();
  std::ifstream("/proc/sys/vm/max_map_count") >> limits.mappings;
  if (what.copies && !request.shared_globals) {
    limits.copy_bytes = what.copies->private_bytes();
    limits.copy_mappings = what.copies->mappings();
  }
  return limits;
}

// For --nfg auto.
unsigned choose_ranks(const mpirun_request& request, const what_runs& what) {
  if (!what.copies) return 1;
  const unsigned ranks = automatic_ranks(limits_of(request, what));
  base::say("--nfg auto: {} in each process of {}", base::counted(ranks, "rank"),
            base::counted(request.workers, "worker"));
  return ranks;
}

constexpr std::string_view k_times = "the times";

int sweep(const mpirun_request& request, const what_runs& what, const runtime::config& c,
          const std::vector<unsigned>& ranks) {
  // At start, so that nobody computes for an hour first.
  if (!request.sweep.empty()) runtime::write_whole_file(request.sweep, k_times, "");
  sweep_result all{request.processes, request.program, {}};
  int status = 0;
  for (const unsigned n : ranks) {
    sweep_run& run = all.runs.emplace_back(sweep_run{n, 0, {}});
    for (unsigned i = 0; i < request.repeat; ++i) {
      const std::int64_t begun_ns = static_cast<std::int64_t>(base::now_ns());
      const int got = runtime::start_job(c, job_of(request, what, n, true));
      run.seconds.push_back(static_cast<double>(static_cast<std::int64_t>(base::now_ns()) - begun_ns) * 1e-9);
      if (got != 0) run.status = got;
      if (status == 0) status = got;
    }
  }
  const std::string table = sweep_table(all);
  std::fwrite(table.data(), 1, table.size(), stderr);
  if (request.sweep.empty()) return status;
  runtime::write_whole_file(request.sweep, k_times, sweep_json(all));
  runtime::write_whole_file(std::filesystem::path(request.sweep).replace_extension(".svg").string(), k_times,
                            sweep_picture(all));
  return status;
}

// A launcher has started this process as one of a job: it becomes the host of its ranks.
[[noreturn]] void become_host(const mpirun_request& request, const what_runs& what, unsigned ranks, bool several) {
  if (request.has_processes || !request.hosts.empty() || several || request.debug || request.seconds > 0 ||
      request.transport != "auto")
    throw error(
        errc::invalid_argument,
        "shoal mpirun inside a job: the launcher (srun, mpirun) has started the processes, so leave -n, --hosts, "
        "--transport, --timeout, --debug, --repeat and several numbers of ranks out; SHOAL_TRANSPORT chooses a "
        "transport");
  const runtime::start_request job = job_of(request, what, ranks, false);
  machine::become(job.arguments, job.environment);
}

// All processes are nodes of a simulated machine, in this one, which becomes their host.
[[noreturn]] void become_simulated(const mpirun_request& request, const what_runs& what, unsigned ranks, bool several) {
  if (runtime::is_launched())
    throw error(errc::invalid_argument, "shoal mpirun --transport sim inside a job: start only one of the two");
  if (!what.copies)
    throw error(errc::invalid_argument,
                "a simulated machine runs programs that shoal mpicc, mpicxx or mpif90 has built; this is another one");
  if (!request.hosts.empty() || several || request.debug || request.seconds > 0 || !request.profile.empty())
    throw error(errc::invalid_argument,
                "--transport sim is one process and one run, in virtual time: leave --hosts, --timeout, --debug, "
                "--profile, --repeat and several numbers of ranks out");
  runtime::start_request job = job_of(request, what, ranks, false);
  job.environment.emplace_back("SHOAL_TRANSPORT=sim");
  job.environment.emplace_back("OMP_NUM_THREADS=1");  // a rank has no threads there
  job.environment.push_back("SHOAL_NODES=" + std::to_string(request.processes));
  machine::fix_addresses();
  machine::become(job.arguments, job.environment);
}

int mpirun(mpirun_request request) {
  if (request.program.empty())
    throw error(errc::invalid_argument, "nothing to run; name a program: shoal mpirun -n 2 --nfg 64 -- ./program");
  std::vector<unsigned> ranks = read_ranks(request.nfg);
  const bool several = ranks.size() > 1 || request.repeat > 1;
  if (!request.sweep.empty() && !several)
    throw error(errc::invalid_argument, "--sweep is for several runs: --nfg 1,2,4 or --repeat 3");
  check_debug(request, ranks.empty() ? 1 : ranks.front(), several);
  auto s = runtime::all_settings();
  if (request.transport != "auto") s.set("transport", request.transport, base::setting_origin::command_line);
  s.check();
  const bool is_simulated = s.get_text("transport") == "sim";
  if (is_simulated) {
    if (!request.has_processes) request.processes = static_cast<unsigned>(s.get_int("nodes"));
    if (!request.has_workers) request.workers = std::max(static_cast<unsigned>(s.get_int("workers")), 1U);
  } else if (request.hosts.empty() && request.processes > k_most_processes) {
    throw error(errc::invalid_argument,
                fmt::format("-n {}: at most {} processes on a machine; --transport sim simulates more",
                            request.processes, k_most_processes));
  }
  const std::string program = find_mpi_program(request.program.front());
  const what_runs what{program, copies_of(program, ranks), find_mpi()};
  if (ranks.empty()) ranks.push_back(choose_ranks(request, what));
  if (request.hosts.empty())  // other machines may allow more
    for (const unsigned n : ranks) check_ranks(n, limits_of(request, what), is_simulated ? request.processes : 1);
  if (is_simulated) become_simulated(request, what, ranks.front(), several);
  if (runtime::is_launched()) become_host(request, what, ranks.front(), several);
  const runtime::config c = runtime::read_config(s);
  if (several) return sweep(request, what, c, ranks);
  const runtime::start_request job = job_of(request, what, ranks.front(), false);
  if (request.debug) debug(what.mpi, job);
  return runtime::start_job(c, job);
}

}  // namespace

subcommand_body declare_mpirun(CLI::App& app) {
  auto request = std::make_shared<mpirun_request>();
  const CLI::Option* const processes =
      app.add_option("-n,--np,--processes", request->processes,
                     "processes: on this machine, or on --hosts (there as many as it names)")
          ->check(CLI::Range(1U, 65536U))
          ->capture_default_str();
  app.add_option("--nfg", request->nfg,
                 "ranks in each process; auto: chosen; 1,2,4: runs with each number, and compares the times")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--repeat", request->repeat, "runs with each number of ranks, to compare the times")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  app.add_option("--sweep", request->sweep, "the times of the runs as JSON, and drawn beside it in FILE.svg")
      ->type_name("FILE.json");
  const CLI::Option* const workers = app.add_option("-w,--workers", request->workers,
                                                    "worker threads of each process, over which its ranks are spread")
                                         ->check(CLI::Range(1U, 1024U))
                                         ->capture_default_str();
  app.add_option("--transport", request->transport,
                 "how messages travel between processes: shm on one machine; ucx; mpi; sim: the processes are nodes "
                 "of a simulated machine (shoal sim)")
      ->check(CLI::IsMember({"auto", "shm", "ucx", "mpi", "sim"}))
      ->capture_default_str();
  app.add_option("--hosts", request->hosts, "machines: a,b:2 (two processes on b), or a file with a name in each line");
  app.add_option("--remote-shell", request->remote_shell, "how to reach them")->capture_default_str();
  app.add_option(
         "--stack", request->stack_mb,
         "address space of a rank's stack in MiB, at least: there are stacks of 1, 4, 16 and 64; only what is touched "
         "takes memory")
      ->check(CLI::Range(1U, 63U))
      ->capture_default_str();
  app.add_option("-x,--env", request->environment,
                 "NAME=VALUE for the ranks, or NAME with the value that it has here; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--label", request->label, "begin each line of output with its rank: [3]");
  app.add_flag("--shared-globals", request->shared_globals,
               "one copy of the program for all ranks of a process: less memory, but they share its global and static "
               "variables, so only for programs that keep nothing in them");
  app.add_flag("--profile{-}", request->profile,
               "at the end, where the ranks spent their time, on standard error; =FILE.json: also as JSON, and drawn "
               "beside it in FILE.svg")
      ->type_name("FILE.json");
  app.add_flag("--debug", request->debug,
               "under gdb, in one process; there: run, then `shoal ranks`, `shoal rank 3`, `shoal ranks bt`");
  app.add_option("--timeout", request->seconds, "seconds, after which the job is ended with status 124")
      ->check([](const std::string& text) {
        char* end = nullptr;
        const double seconds = std::strtod(text.c_str(), &end);
        const bool fits = end != text.c_str() && *end == '\0' && seconds >= 0.001 && seconds <= 1e9;  // and no NaN
        return fits ? std::string() : "give seconds, from 0.001 to 1000000000";
      });
  app.add_option("program", request->program, "the program and its arguments, behind --");
  app.positionals_at_end();
  app.footer(app.get_footer() +
             "\n\nExit status: that of the first rank that fails, or the code of MPI_Abort; 3 if no rank can go on "
             "(deadlock);\n124 after --timeout; 128 and the signal's number for a crash; 2 for wrong usage; else 0.");
  return [request, processes, workers] {
    request->has_processes = processes->count() != 0;
    request->has_workers = workers->count() != 0;
    if (!request->has_processes && !request->hosts.empty())
      request->processes = static_cast<unsigned>(launch::parse_hosts(request->hosts).size());
    return mpirun(*request);
  };
}

}  // namespace shoal::tools

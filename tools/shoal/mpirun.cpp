// SPDX-License-Identifier: Apache-2.0
// shoal mpirun: runs an MPI program with many ranks per process. It starts processes as `shoal run` does, each a host
// that loads a copy of the program per rank.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/settings.hpp"
#include "launch/hosts_launch.hpp"
#include "machine/process.hpp"
#include "machine/process_limits.hpp"
#include "machine/program_copies.hpp"
#include "runtime/job.hpp"
#include "runtime/start.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/mpi_paths.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct mpirun_request {
  unsigned processes = 1;
  unsigned ranks = 1;
  unsigned workers = 1;
  std::string transport = "auto";
  std::string hosts;
  std::string remote_shell = "ssh";
  unsigned stack_mb = 8;
  bool label = false;
  bool debug = false;
  std::string profile;  // a file, or k_no_file; empty: none is wanted
  double seconds = 0;   // 0: as long as it takes
  std::vector<std::string> environment;
  std::vector<std::string> program;
};

// Whether a host can load the program. Others are started as they are, with one rank in each process: scripts, and
// programs that other compilers have built for the standard ABI.
bool can_be_copied(const std::string& program, unsigned ranks) {
  try {
    const machine::program_copies copies(program);
    return true;
  } catch (const error& e) {
    if (ranks == 1) return false;
    throw error(errc::invalid_argument,
                fmt::format("--nfg {}: {} (shoal mpicc, mpicxx and mpif90 do both), or start it with --nfg 1", ranks,
                            e.what()));
  }
}

constexpr const char* k_no_file = "-";

// The ranks may have another working directory.
std::string profile_file(const mpirun_request& request) {
  return request.profile == k_no_file ? std::string() : std::filesystem::absolute(request.profile).string();
}

// gdb in the place of this process, on a host that is a job by itself.
[[noreturn]] void debug(const mpi_paths& mpi, const runtime::start_request& job) {
  std::vector<std::string> command{machine::find_program("gdb"), "-q", "-x", mpi.gdb, "--args"};
  if (!std::filesystem::exists(command.front()))
    throw error(errc::not_found, "--debug needs gdb, which is not installed (Debian's package gdb)");
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  machine::become(command, job.environment);
}

void check_debug(const mpirun_request& request) {
  if (!request.debug) return;
  if (request.processes != 1 || !request.hosts.empty())
    throw error(errc::invalid_argument,
                fmt::format("--debug is for one process on this machine: give -n 1 --nfg {} instead, with all ranks in "
                            "that process",
                            request.processes * request.ranks));
  if (request.seconds > 0) throw error(errc::invalid_argument, "--debug waits for its user: leave --timeout out");
}

int mpirun(const mpirun_request& request) {
  if (request.program.empty())
    throw error(errc::invalid_argument, "nothing to run; name a program: shoal mpirun -n 2 --nfg 64 -- ./program");
  if (runtime::is_launched())
    throw error(errc::invalid_argument, "shoal mpirun inside a job: start only one of the two");
  check_debug(request);
  auto s = runtime::all_settings();
  if (request.transport != "auto") s.set("transport", request.transport, base::setting_origin::command_line);
  s.check();
  runtime::start_request job;
  if (!request.hosts.empty()) job.hosts = launch::parse_hosts(request.hosts);
  job.nodes = request.processes;
  job.remote_shell = request.remote_shell;
  const std::string program = machine::find_program(request.program.front());
  if (!std::filesystem::exists(program))
    throw error(errc::not_found, fmt::format("there is no program {}", request.program.front()));
  const mpi_paths mpi = find_mpi();
  job.environment = request.environment;
  if (can_be_copied(program, request.ranks)) {
    job.arguments = {mpi.host, std::to_string(request.ranks), std::to_string(std::size_t{request.stack_mb} << 20),
                     program};
    if (request.label) job.arguments.insert(job.arguments.end() - 1, "--label");
    if (!request.profile.empty()) job.arguments.insert(job.arguments.end() - 1, "--profile=" + profile_file(request));
  } else {
    if (request.debug)
      throw error(
          errc::invalid_argument,
          "--debug needs a program that shoal mpicc, mpicxx or mpif90 has built; start gdb itself for this one");
    if (!request.profile.empty())
      throw error(errc::invalid_argument, "--profile needs a program that shoal mpicc, mpicxx or mpif90 has built");
    if (request.label)
      throw error(errc::invalid_argument, "--label needs a program that shoal mpicc, mpicxx or mpif90 has built");
    job.arguments = {program};
    const char* const folders = std::getenv("LD_LIBRARY_PATH");
    job.environment.push_back("LD_LIBRARY_PATH=" + mpi.library +
                              (folders == nullptr ? "" : std::string(":") + folders));
  }
  job.arguments.insert(job.arguments.end(), request.program.begin() + 1, request.program.end());
  job.environment.push_back("SHOAL_WORKERS=" + std::to_string(request.workers));
  // Each record of a Fortran program leaves its library by itself, for whole lines of ranks.
  if (request.ranks > 1 || request.label) job.environment.emplace_back("GFORTRAN_UNBUFFERED_PRECONNECTED=y");
  if (request.debug) debug(mpi, job);
  job.limit_ns = static_cast<std::int64_t>(request.seconds * 1e9);
  return runtime::start_job(runtime::read_config(s), job);
}

}  // namespace

subcommand_body declare_mpirun(CLI::App& app) {
  auto request = std::make_shared<mpirun_request>();
  app.add_option("-n,--np,--processes", request->processes, "processes, here or on --hosts")
      ->check(CLI::Range(1U, 256U));
  app.add_option("--nfg", request->ranks, "ranks in each process")->check(CLI::Range(1U, 100'000U));
  app.add_option("-w,--workers", request->workers, "worker threads of each process, over which its ranks are spread")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--transport", request->transport,
                 "how messages travel between processes: shm on one machine; ucx; mpi")
      ->check(CLI::IsMember({"auto", "shm", "ucx", "mpi"}));
  app.add_option("--hosts", request->hosts, "machines: a,b:2 (two processes on b), or a file with a name in each line");
  app.add_option("--remote-shell", request->remote_shell, "how to reach them");
  app.add_option("--stack", request->stack_mb,
                 "address space of a rank's stack in MiB; only what is touched takes memory")
      ->check(CLI::Range(1U, 63U));
  app.add_option("--env", request->environment, "NAME=VALUE for the ranks; may be repeated")->allow_extra_args(false);
  app.add_flag("--label", request->label, "begin each line of output with its rank: [3]");
  app.add_flag("--profile{-}", request->profile,
               "at the end, where the ranks spent their time, on standard error; =FILE.json: also as JSON, and drawn "
               "beside it in FILE.svg")
      ->type_name("FILE.json");
  app.add_flag("--debug", request->debug,
               "under gdb, in one process; there: run, then `shoal ranks`, `shoal rank 3`, `shoal ranks bt`");
  app.add_option("--timeout", request->seconds, "seconds, after which the job is ended with status 124")
      ->check(CLI::Range(0.001, 1e9));
  app.add_option("program", request->program, "the program and its arguments, behind --");
  app.positionals_at_end();
  return [request] { return mpirun(*request); };
}

}  // namespace shoal::tools

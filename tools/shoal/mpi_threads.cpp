// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "machine/process.hpp"
#include "shoal/error.hpp"
#include "shoal/locks.hpp"
#include "tools/mpi-threads/elf_file.hpp"
#include "tools/mpi-threads/launch.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

namespace fs = std::filesystem;

struct mpi_threads_request {
  mpi_threads::settings chosen;
  std::string mpi, json, before;
  std::vector<std::string> command;
};

// A temporary folder for the reports; removed by the destructor.
class report_folder {
public:
  report_folder() {
    std::string name = (fs::temp_directory_path() / "shoal-mpi-threads-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw error(errc::system, "cannot make a folder for reports in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~report_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  report_folder(const report_folder&) = delete;
  report_folder& operator=(const report_folder&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

std::vector<std::string> library_folders() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  return {(here / "lib").string(), (here / ".." / SHOAL_LIBRARY_FOLDER / "shoal").lexically_normal().string()};
}

// Checks before the run that the file can be written. Keeps its contents until the end of the run.
void open_json(const std::string& file) {
  if (file.empty() || file == "-") return;
  if (!std::ofstream(file, std::ios::app)) throw error(errc::invalid_argument, "cannot write " + file);
}

bool write_json(const std::string& file, const std::string& text) {
  if (file == "-") return static_cast<bool>((std::cout << text << '\n').flush());
  std::ofstream to(file);
  return static_cast<bool>((to << text << '\n').flush());
}

// Forwards signals to the launcher while the job runs. The launcher ends its processes as usual, and this process
// continues in order to read their reports. Signals that are ignored stay ignored.
class forwarded_signals {
public:
  forwarded_signals() {
    sigemptyset(&taken_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      struct sigaction action {};
      if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&taken_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &taken_, &before_);
    descriptor_ = signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~forwarded_signals() {
    if (descriptor_ >= 0) close(descriptor_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  forwarded_signals(const forwarded_signals&) = delete;
  forwarded_signals& operator=(const forwarded_signals&) = delete;

  /// Returns when the child has ended.
  void serve(const machine::child_process& child) const {
    while (machine::wait_any(std::array{child.descriptor(), descriptor_}, -1) == 1) {
      signalfd_siginfo one{};
      if (read(descriptor_, &one, sizeof one) != sizeof one) continue;
      // The terminal sends a key's signal to the launcher as well. A second one would force it to end.
      if (one.ssi_code != SI_KERNEL) child.kill(static_cast<int>(one.ssi_signo));
    }
  }

private:
  sigset_t taken_{}, before_{};
  int descriptor_ = -1;
};

// Reads the `--json` file of an earlier run.
nlohmann::json read_json(const std::string& file) {
  std::ifstream from(file);
  if (!from)
    throw error(errc::not_found,
                fmt::format("--before: {} cannot be read ({}); create it with: shoal mpi-threads --lock "
                            "none --json {} -- COMMAND",
                            file, std::strerror(errno), file));
  nlohmann::json read = nlohmann::json::parse(from, nullptr, false);
  if (!read.is_object() || !read.contains("entries"))
    throw error(
        errc::invalid_argument,
        file + " contains no bias; create it with: shoal mpi-threads --lock none --json " + file + " -- COMMAND");
  if (read.value("lock", "") != "none")
    throw error(errc::invalid_argument, file + " is from a run with a lock; --before needs one without: --lock none");
  return read;
}

// Before a launcher, or a library that does not fit, says so in its own words.
void check_command(const mpi_threads_request& request) {
  const std::string& first = request.command.front();
  std::error_code problem;
  if (!fs::exists(machine::find_program(first), problem))
    throw error(
        errc::not_found,
        fmt::format("there is no program {}{}; name the launcher's command line as it works without Shoal, after "
                    "--",
                    first, first.find('/') == std::string::npos ? " in PATH" : ""));
  if (request.mpi.empty() || request.mpi == "custom") return;
  for (const std::string& word : request.command) {
    if (word.empty() || word.front() == '-') continue;
    const auto linked = mpi_threads::mpi_of_program(machine::find_program(word));
    if (linked && *linked != "abi" && *linked != request.mpi)
      throw error(errc::invalid_argument,
                  fmt::format("{} is linked with {}, not with {}; leave --library out, or give --library {}", word,
                              *linked, request.mpi, *linked));
  }
}

int run(mpi_threads_request request) {
  check_command(request);
  nlohmann::json before;
  if (!request.before.empty()) {
    before = read_json(request.before);
    request.chosen.bias = true;
  }
  const report_folder reports;
  request.chosen.reports = reports.path();
  const mpi_threads::launch_plan plan =
      mpi_threads::plan(request.command, request.mpi, request.chosen, library_folders());
  machine::spawn_request what;
  what.arguments = plan.arguments;
  what.environment = plan.environment;
  open_json(request.json);
  const forwarded_signals signals;
  machine::child_process job = machine::spawn(what);
  signals.serve(job);
  const machine::exit_status status = job.reap();
  nlohmann::json sum = mpi_threads::collect(reports.path());
  if (!before.is_null() && before.value("command", nlohmann::json()) != request.command)
    fmt::print(stderr, "shoal mpi-threads: {} is from another command line\n", request.before);
  if (!before.is_null()) sum["before"] = {{"lock", before.value("lock", "")}, {"entries", before["entries"]}};
  fmt::print(stderr, "{}", mpi_threads::describe(sum));
  sum["shoal"] = SHOAL_VERSION;
  sum["command"] = request.command;
  sum["exit_status"] = status.shell_code();
  if (request.json.empty() || write_json(request.json, sum.dump(1))) return status.shell_code();
  fmt::print(stderr, "shoal mpi-threads: cannot write {}\n", request.json);
  return status.clean() ? 2 : status.shell_code();
}

}  // namespace

subcommand_body declare_mpi_threads(CLI::App& app) {
  auto request = std::make_shared<mpi_threads_request>();
  std::vector<std::string> kinds(lock_kinds().begin(), lock_kinds().end());
  kinds.emplace_back("none");
  const auto waits = wait_kinds();
  app.add_option("--lock", request->chosen.lock,
                 "the kind of lock in front of the MPI library; none: no lock, the library's own bias is measured")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  app.add_option("--wait", request->chosen.wait, "how waiters wait")
      ->check(CLI::IsMember(std::vector<std::string>(waits.begin(), waits.end())))
      ->capture_default_str();
  app.add_option("--bound", request->chosen.bound,
                 "how often a waiter may be bypassed (locks with a bound), and how often a poll tries before it queues")
      ->check(CLI::Range(1U, 1000000U));
  app.add_option("--spins", request->chosen.spins, "polls without success before a thread yields");
  app.add_option("--level", request->chosen.level,
                 "thread level of the library; multiple: calls that wait in the library do not take the lock; "
                 "auto: that "
                 "if the program has such calls")
      ->check(CLI::IsMember({"auto", "serialized", "multiple"}))
      ->capture_default_str();
  app.add_flag("--bias", request->chosen.bias, "measure the bias as --lock none does (slows the program)");
  app.add_option("--before", request->before, "compare with the bias in FILE, the --json of a run with --lock none")
      ->type_name("FILE");
  app.add_flag("--dangling", request->chosen.dangling,
               "count requests that are complete and not yet freed (slows the program)");
  app.add_option(
         "--library", request->mpi,
         "the MPI library, if it cannot be detected (scripts): openmpi, mpich, or custom (the one that Shoal was "
         "built for with -DSHOAL_MPICC)")
      ->check(CLI::IsMember({"openmpi", "mpich", "custom"}));
  app.add_option("--json", request->json, "write the counts to FILE; -: standard output")->type_name("FILE");
  app.add_option("command", request->command, "the launcher's command line, after --")->required();
  app.positionals_at_end();
  return [request] { return run(*request); };
}

}  // namespace shoal::tools

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "machine/process.hpp"
#include "shoal/error.hpp"
#include "shoal/locks.hpp"
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

// A folder for the reports, gone at the end.
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

// Whether that will work is known before the run; what is there stays until then.
void open_json(const std::string& file) {
  if (file.empty() || file == "-") return;
  if (!std::ofstream(file, std::ios::app)) throw error(errc::invalid_argument, "cannot write " + file);
}

bool write_json(const std::string& file, const std::string& text) {
  if (file == "-") return static_cast<bool>((std::cout << text << '\n').flush());
  std::ofstream to(file);
  return static_cast<bool>((to << text << '\n').flush());
}

// Signals that are meant for the job while it runs: they go to the launcher, whose processes end as they would without
// us, and we live on for their reports. Those that we were told to ignore stay ignored.
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

  /// Until the child has ended.
  void serve(const machine::child_process& child) const {
    while (machine::wait_any(std::array{child.descriptor(), descriptor_}, -1) == 1) {
      signalfd_siginfo one{};
      if (read(descriptor_, &one, sizeof one) != sizeof one) continue;
      // What a key of the terminal sends has reached the launcher, too: twice it would be taken for impatience.
      if (one.ssi_code != SI_KERNEL) child.kill(static_cast<int>(one.ssi_signo));
    }
  }

private:
  sigset_t taken_{}, before_{};
  int descriptor_ = -1;
};

// What `--json` wrote of an earlier run.
nlohmann::json read_json(const std::string& file) {
  std::ifstream from(file);
  nlohmann::json read = nlohmann::json::parse(from, nullptr, false);
  if (!read.is_object() || !read.contains("entries"))
    throw error(
        errc::invalid_argument,
        file + " has no bias in it; make it with: shoal mpi-threads --lock none --json " + file + " -- COMMAND");
  if (read.value("lock", "") != "none")
    throw error(errc::invalid_argument,
                file + " is of a run behind a lock; --before compares with one without: --lock none");
  return read;
}

int run(mpi_threads_request request) {
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
    fmt::print(stderr, "shoal mpi-threads: {} is of another command line\n", request.before);
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
                 "who goes next at the MPI library; none: the library by itself, its bias measured")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  app.add_option("--wait", request->chosen.wait, "how the others wait")
      ->check(CLI::IsMember(std::vector<std::string>(waits.begin(), waits.end())))
      ->capture_default_str();
  app.add_option("--bound", request->chosen.bound, "how often a waiter may be passed, with locks that allow it")
      ->check(CLI::Range(1U, 1000000U));
  app.add_option("--spins", request->chosen.spins, "polls without success before a thread gives way");
  app.add_option("--level", request->chosen.level,
                 "with which the library is initialised; multiple: calls that wait in the library go without the lock; "
                 "auto: that "
                 "if the program has such calls")
      ->check(CLI::IsMember({"auto", "serialized", "multiple"}))
      ->capture_default_str();
  app.add_flag("--bias", request->chosen.bias, "measure the bias as --lock none does (costs)");
  app.add_option("--before", request->before, "compare with the bias in FILE, the --json of a run with --lock none")
      ->type_name("FILE");
  app.add_flag("--dangling", request->chosen.dangling, "count requests that are complete and not yet freed (costs)");
  app.add_option("--library", request->mpi, "the MPI library, where the program does not tell (scripts)")
      ->check(CLI::IsMember({"openmpi", "mpich", "custom"}));
  app.add_option("--json", request->json, "write what was counted there; -: standard output")->type_name("FILE");
  app.add_option("command", request->command, "the launcher's command line, behind --")->required();
  app.positionals_at_end();
  return [request] { return run(*request); };
}

}  // namespace shoal::tools

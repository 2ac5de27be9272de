// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

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
  std::string library, json, before;
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

void write_json(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text << '\n';
    return;
  }
  std::ofstream to(file);
  if (!(to << text << '\n').flush()) throw error(errc::invalid_argument, "cannot write " + file);
}

// What `--json` wrote of an earlier run.
nlohmann::json read_json(const std::string& file) {
  std::ifstream from(file);
  nlohmann::json read = nlohmann::json::parse(from, nullptr, false);
  if (!read.is_object() || !read.contains("entries"))
    throw error(
        errc::invalid_argument,
        file + " has no bias in it; make it with: shoal mpi-threads --lock none --json " + file + " -- COMMAND");
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
      mpi_threads::plan(request.command, request.library, request.chosen, library_folders());
  machine::spawn_request what;
  what.arguments = plan.arguments;
  what.environment = plan.environment;
  const machine::exit_status status = machine::spawn(what).reap();
  nlohmann::json sum = mpi_threads::collect(reports.path());
  if (!before.is_null()) sum["before"] = {{"lock", before.value("lock", "")}, {"entries", before["entries"]}};
  fmt::print(stderr, "{}", mpi_threads::describe(sum));
  sum["shoal"] = SHOAL_VERSION;
  sum["command"] = request.command;
  sum["exit_status"] = status.shell_code();
  if (!request.json.empty()) write_json(request.json, sum.dump(1));
  const bool reached = sum["processes"].get<int>() > 0;
  return status.shell_code() == 0 && !reached ? 1 : status.shell_code();
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
  app.add_option("--library", request->library, "the MPI library, where the program does not tell (scripts)")
      ->check(CLI::IsMember({"openmpi", "mpich", "custom"}));
  app.add_option("--json", request->json, "write what was counted there; -: standard output")->type_name("FILE");
  app.add_option("command", request->command, "the launcher's command line, behind --")->required();
  app.positionals_at_end();
  return [request] { return run(*request); };
}

}  // namespace shoal::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "machine/process.hpp"
#include "shoal/error.hpp"
#include "tools/mpi-threads/elf_file.hpp"

namespace shoal::mpi_threads {
namespace {

namespace fs = std::filesystem;

// The file that a word of the command line would execute, or empty.
std::string executable(const std::string& word) {
  if (word.empty() || word.front() == '-') return "";
  const std::string path = machine::find_program(word);
  std::error_code problem;
  return fs::is_regular_file(path, problem) && access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string mpi_of_launcher(const std::string& path) {
  std::error_code problem;
  const std::string name = fs::canonical(path, problem).filename().string();
  if (name.find("openmpi") != std::string::npos || name.find("orterun") != std::string::npos) return "openmpi";
  if (name.find("mpich") != std::string::npos || name.find("hydra") != std::string::npos) return "mpich";
  return "";
}

// The MPI library with which the program is linked. If it is unknown (scripts): the library of the launcher.
std::string detect(const std::vector<std::string>& command) {
  std::string linked_in, first;
  for (const std::string& word : command) {
    const std::string path = executable(word);
    if (path.empty()) continue;
    if (auto mpi = mpi_of_program(path)) return *mpi;
    if (&word == &command.front()) continue;  // the launcher
    const elf_file file = read_elf(path);
    if (file.elf && !file.program) continue;  // a library can only be an argument of the program
    if (file.elf && !file.dynamic)
      throw error(errc::invalid_argument, fmt::format("{} is linked statically, so no library can be preloaded into "
                                                      "it; link it without -static",
                                                      path));
    if (file.elf && file.defines_mpi) linked_in = path;
    if (first.empty()) first = path;
  }
  if (!linked_in.empty())
    throw error(errc::invalid_argument, fmt::format("{} contains its MPI library (a static one), whose functions "
                                                    "cannot be replaced; link it with the shared one",
                                                    linked_in));
  if (!first.empty() && read_elf(first).elf && command.size() > 1 && executable(command.back()) == first)
    throw error(errc::invalid_argument,
                fmt::format("{} does not use an MPI library that is known here (libmpi, libmpich)", first));
  const std::string launcher = executable(command.front());
  std::string mpi = launcher.empty() ? "" : mpi_of_launcher(launcher);
  if (mpi.empty())
    throw error(errc::invalid_argument,
                "cannot detect which MPI library the program uses; give --library openmpi or mpich");
  return mpi;
}

// Settings that the user has not given. Whether Open MPI yields is left to it: it does so if there are more processes
// than cores, and then a process that waits in a constructor without yielding keeps the others from theirs.
std::string settings_of_openmpi() {
  // Sends a message of 4 KiB in one piece. With its header it exceeds the default limit, and each step of the handshake
  // would wait for the lock.
  return std::getenv("OMPI_MCA_btl_vader_eager_limit") == nullptr ? "OMPI_MCA_btl_vader_eager_limit=8192" : "";
}

// LD_PRELOAD is a list; its separators cannot be escaped.
bool can_be_preloaded(const std::string& path) { return path.find_first_of(" \t\n:") == std::string::npos; }

// A path of the library that LD_PRELOAD can contain: its own path, or a link in the reports' folder.
std::string preloadable(const fs::path& library, const std::string& reports) {
  if (can_be_preloaded(library.string())) return library.string();
  const fs::path link = fs::absolute(reports) / library.filename();
  std::error_code problem;
  if (!reports.empty() && can_be_preloaded(link.string())) fs::create_symlink(library, link, problem);
  if (reports.empty() || !can_be_preloaded(link.string()) || problem)
    throw error(
        errc::invalid_argument,
        fmt::format("{} cannot be preloaded, because LD_PRELOAD ends a name at a blank and at a colon; install it "
                    "in a folder without them, or set TMPDIR to one",
                    library.string()));
  return link.string();
}

}  // namespace

launch_plan plan(const std::vector<std::string>& command, const std::string& mpi, const settings& s,
                 const std::vector<std::string>& libraries) {
  if (command.empty())
    throw error(errc::invalid_argument, "nothing to run; name a command: shoal mpi-threads -- mpirun -n 2 ./program");
  s.check();
  launch_plan result;
  result.mpi = mpi.empty() ? detect(command) : mpi;
  if (result.mpi == "abi") result.mpi = "custom";  // the user gives cmake the mpicc of a library with the standard ABI
  std::string library;
  for (const std::string& folder : libraries) {
    std::error_code problem;
    const fs::path path = fs::path(folder) / ("libshoal_mpi_threads_" + result.mpi + ".so");
    if (library.empty() && fs::is_regular_file(path, problem)) library = fs::absolute(path).string();
  }
  if (library.empty())
    throw error(
        errc::not_found,
        fmt::format("there is no preload library for {} here; `./dev build --with networks` installs Open MPI and "
                    "MPICH and builds for them; another one: cmake -DSHOAL_MPICC=its mpicc, build, then "
                    "--library custom",
                    result.mpi));
  // Brings the MPI library itself. A program that is not linked with it loads it later, perhaps for its own use only;
  // the functions and constants that the preload library needs would not be found.
  const fs::path early = fs::path(library).parent_path() / ("libshoal_mpi_early_" + result.mpi + ".so");
  if (std::error_code problem; !mpi.empty() && !fs::is_regular_file(early, problem))
    throw error(errc::not_found, fmt::format("{} is missing; build and install shoal again", early.string()));
  std::string preload = preloadable(library, s.reports);
  if (!mpi.empty()) preload += ":" + preloadable(early, s.reports);
  settings for_all = s;
  if (result.mpi == "openmpi" && for_all.underneath.empty()) for_all.underneath = settings_of_openmpi();
  result.environment = for_all.environment();
  const char* others = std::getenv("LD_PRELOAD");
  result.environment.push_back("LD_PRELOAD=" + preload + (others == nullptr ? "" : std::string(":") + others));
  result.arguments = command;
  if (result.mpi != "openmpi") return result;
  if (mpi_of_launcher(executable(command.front())) ==
      "openmpi") {  // to other machines it passes only variables that are named
    std::vector<std::string> exported;
    for (const std::string& one : result.environment) {
      exported.emplace_back("-x");
      exported.push_back(one.substr(0, one.find('=')));
    }
    result.arguments.insert(result.arguments.begin() + 1, exported.begin(), exported.end());
  }
  return result;
}

namespace {

// The values that the reports of all processes have in common; processes may have different programs and environments.
class common {
public:
  void add(const nlohmann::json& report) {
    for (const char* key : k_keys) {
      if (!report.contains(key)) continue;
      auto& all = values_[key];
      if (std::ranges::find(all, report[key]) == all.end()) all.push_back(report[key]);
    }
  }
  bool empty() const { return values_.empty(); }
  /// Writes a single value as it is. Writes several values as a text or an array, and adds the key to "differ".
  void put_into(nlohmann::json& sum) const {
    for (const auto& [key, all] : values_) {
      sum[key] = all.front();
      if (all.size() == 1) continue;
      sum["differ"].push_back(key);
      std::vector<std::string> texts;
      for (const nlohmann::json& one : all)
        if (one.is_string() && one != "") texts.push_back(one);
      std::ranges::sort(texts);
      sum[key] = texts.empty() ? nlohmann::json(all) : nlohmann::json(fmt::format("{}", fmt::join(texts, ", ")));
    }
  }

private:
  static constexpr const char* k_keys[] = {"library", "level", "reason", "lock", "wait", "bound", "spins"};
  std::map<std::string, std::vector<nlohmann::json>> values_;
};

}  // namespace

nlohmann::json collect(const std::string& folder) {
  nlohmann::json sum = {{"processes", 0}, {"passed", 0},  {"finished", 0},
                        {"aborted", 0},   {"threads", 0}, {"contended", 0},
                        {"won_again", 0}, {"fair", 0.0},  {"calls", nlohmann::json::object()}};
  common of_passed, of_others;
  double dangling = 0, outstanding = 0, samples = 0, entries = 0, core = 0, package = 0;
  std::uint64_t most = 0;
  bool measured = false;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const auto report = nlohmann::json::parse(file, nullptr, false);
    if (report.is_discarded() || !report.is_object()) continue;
    sum["processes"] = sum["processes"].get<int>() + 1;
    const std::string state = report.value("state", "");
    for (const char* one : {"passed", "finished", "aborted"})
      if (state == one) sum[one] = sum[one].get<int>() + 1;
    (state == "passed" ? of_passed : of_others).add(report);
    for (const char* key : {"contended", "won_again"})
      sum[key] = sum[key].get<std::uint64_t>() + report.value(key, std::uint64_t{0});
    sum["fair"] = sum["fair"].get<double>() + report.value("fair", 0.0);
    sum["threads"] = sum["threads"].get<std::size_t>() + report.value("threads", nlohmann::json::array()).size();
    const auto d = report.value("dangling", nlohmann::json::object());
    const double n = d.value("samples", 0.0);
    samples += n;
    dangling += n * d.value("average", 0.0);
    outstanding += n * d.value("outstanding_average", 0.0);
    most = std::max(most, d.value("most", std::uint64_t{0}));
    const auto seen = report.value("entries", nlohmann::json::object());
    const double contended = seen.value("contended", 0.0);
    measured = measured || !seen.empty();
    entries += contended;
    core += contended * seen.value("core", 0.0);
    package += contended * seen.value("package", 0.0);
    const auto calls = report.value("calls", nlohmann::json::object());
    for (const auto& [name, call] : calls.items()) {
      auto& to = sum["calls"].emplace(name, nlohmann::json::object()).first.value();
      for (const char* key : {"calls", "high", "low", "waits", "waited_ns"})
        to[key] = to.value(key, std::uint64_t{0}) + call.value(key, std::uint64_t{0});
      to["longest_ns"] = std::max(to.value("longest_ns", std::uint64_t{0}), call.value("longest_ns", std::uint64_t{0}));
    }
  }
  (of_others.empty() ? of_passed : of_others).put_into(sum);
  const double fair = sum["fair"];
  sum["bias"] = fair > 0 ? sum["won_again"].get<double>() / fair : 0.0;
  if (measured && entries == 0) sum["entries"] = {{"contended", 0.0}};
  if (entries > 0) sum["entries"] = {{"contended", entries}, {"core", core / entries}, {"package", package / entries}};
  if (samples > 0)
    sum["dangling"] = {{"average", dangling / samples}, {"most", most}, {"outstanding_average", outstanding / samples}};
  return sum;
}

namespace {

std::string entry_line(const nlohmann::json& sum, const char* when) {
  if (!sum.contains("entries")) return "";
  const nlohmann::json& e = sum["entries"];
  if (!e.contains("core")) return fmt::format("{}no bias: no two calls that return at once overlapped\n", when);
  return fmt::format(
      "{}bias {:.2f}, of packages {:.2f}, over {} calls that return at once while other threads were inside\n", when,
      e["core"].get<double>(), e["package"].get<double>(), e["contended"].get<double>());
}

}  // namespace

std::string describe(const nlohmann::json& sum) {
  const int processes = sum["processes"], passed = sum["passed"], finished = sum["finished"], aborted = sum["aborted"];
  if (processes == 0)
    return "shoal mpi-threads: no process reported. One of these is the reason: the launcher dropped LD_PRELOAD (a "
           "container, a setuid program; have it pass on LD_PRELOAD and SHOAL_MPI_THREADS_*, Open MPI: -x NAME, MPICH: "
           "-genvall); all processes ran on other machines, which cannot write to the folder for reports here (let "
           "TMPDIR name one that they share); the program did not initialise MPI\n";
  if (passed == processes)
    return fmt::format("shoal mpi-threads: {} processes, none requested MPI_THREAD_MULTIPLE: no lock was used\n",
                       processes);
  if (sum["lock"].get<std::string>() == "none")
    return fmt::format("\nMPI calls without a lock in front: {} processes, {} initialised {}\n{}", processes,
                       sum["library"].get<std::string>(), sum["level"].get<std::string>(), entry_line(sum, ""));
  std::string text = fmt::format("\nMPI calls through the lock {} ({}): {} processes, {} threads, {} initialised {}\n",
                                 sum["lock"].get<std::string>(), sum["wait"].get<std::string>(), processes,
                                 sum["threads"].get<std::size_t>(), sum["library"].get<std::string>(),
                                 sum["level"].get<std::string>());
  if (const std::string reason = sum.value("reason", ""); !reason.empty())
    text += fmt::format("  because it uses {}, which does not take the lock\n", reason);
  if (sum.contains("differ"))
    text += fmt::format("  not all processes have the same {}\n",
                        fmt::join(sum["differ"].get<std::vector<std::string>>(), ", "));
  text += fmt::format("{:<24}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "function", "calls", "high", "low", "waits",
                      "waited ms", "longest us");
  for (const auto& [name, call] : sum["calls"].items()) {
    text += fmt::format("{:<24}{:>12}{:>12}{:>12}{:>12}{:>12.2f}{:>12.1f}\n", name, call["calls"].get<std::uint64_t>(),
                        call["high"].get<std::uint64_t>(), call["low"].get<std::uint64_t>(),
                        call["waits"].get<std::uint64_t>(), call["waited_ns"].get<double>() / 1e6,
                        call["longest_ns"].get<double>() / 1e3);
  }
  if (sum["contended"] == 0)
    text += "no bias: no thread had to wait for another thread\n";
  else
    text += fmt::format(
        "bias {:.2f} over {} contended acquisitions (1: a thread wins twice in a row as often as with a fair "
        "lock)\n",
        sum["bias"].get<double>(), sum["contended"].get<std::uint64_t>());
  if (sum.contains("before")) text += entry_line(sum["before"], "before: ");
  text += entry_line(sum, sum.contains("before") ? "after:  " : "");
  if (sum.contains("dangling"))
    text += fmt::format("dangling requests: {:.1f} of {:.1f} on average, {} at most\n",
                        sum["dangling"]["average"].get<double>(), sum["dangling"]["outstanding_average"].get<double>(),
                        sum["dangling"]["most"].get<std::uint64_t>());
  if (aborted > 0) text += fmt::format("{} processes called MPI_Abort; their counts are those until then\n", aborted);
  if (const int lost = processes - finished - passed - aborted; lost > 0)
    text += fmt::format("{} processes did not reach MPI_Finalize; their counts are missing\n", lost);
  return text;
}

}  // namespace shoal::mpi_threads

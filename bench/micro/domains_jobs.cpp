// SPDX-License-Identifier: Apache-2.0
// Starts the jobs of `shoal bench domains`, each with its own processes: this command again, controlled by its
// environment. Also starts the MPI programs for comparison.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/micro/domains.hpp"
#include "bench/report.hpp"
#include "launch/hosts_launch.hpp"
#include "machine/process.hpp"
#include "machine/segment.hpp"
#include "machine/signals.hpp"
#include "net/plugin.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"

namespace shoal::bench {
namespace {

constexpr const char* k_plan_variable = "SHOAL_DOMAINS_PLAN";
constexpr const char* k_answer_variable = "SHOAL_DOMAINS_ANSWER";
constexpr const char* k_last_line = "end";

// A file without a name, for the result of a child process.
class answer_file {
public:
  answer_file() : memory_(machine::segment::create("shoal-bench-answer", std::size_t{1} << 16)) {}
  std::string path() const { return fmt::format("/proc/{}/fd/{}", machine::own_pid(), memory_.descriptor()); }
  int descriptor() const noexcept { return memory_.descriptor(); }
  std::string read() const {
    std::ifstream in(path());
    std::stringstream all;
    all << in.rdbuf();
    std::string text = all.str();
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

private:
  machine::segment memory_;
};

// Allows MPI launchers to start more processes than there are processors, without binding them.
void allow_all(std::vector<std::string>& environment) {
  for (const char* one : {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                          "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"})
    environment.emplace_back(one);
}

int run_and_wait(const machine::spawn_request& request) {
  const machine::interruption stop;
  machine::child_process child = machine::spawn(request);
  const std::array<int, 2> either{child.descriptor(), stop.descriptor()};
  if (machine::wait_any(either, -1) == 1) static_cast<void>(child.kill(stop.signal()));
  const int status = child.reap().shell_code();
  if (stop.signal() != 0) throw error(errc::system, "interrupted");
  return status;
}

bool exists(const std::string& program) { return machine::find_program(program).find('/') != std::string::npos; }

// The launcher of the MPI that the transport is for.
std::string mpi_launcher() {
  for (const std::string mpi : {"openmpi", "mpich"})
    if (net::has_plugin("mpi_" + mpi, net::plugin_folders({})) && exists("mpirun." + mpi)) return "mpirun." + mpi;
  throw error(errc::not_found,
              "--transport mpi needs the transport of an MPI and that MPI's launcher, mpirun.openmpi or mpirun.mpich");
}

std::vector<std::string> environment_of(const domains_setup& s, const std::string& transport, bool network_memory) {
  const bool processes = s.what == domains_setup::kind::processes;
  const auto set = [](std::string_view name, const auto& value) { return fmt::format("SHOAL_{}={}", name, value); };
  return {set("TRANSPORT", transport),
          set("DIRECT", "off"),
          set("SEGMENT", fmt::format("{}M", 64 + 16 * s.workers)),
          set("NETWORK_MEMORY", network_memory ? "on" : "off"),
          set("PIN", "off"),
          set("WORKERS", processes ? 1 : s.workers),
          set("DOMAINS", s.what == domains_setup::kind::threads ? s.count
                         : processes                            ? 1
                                                                : s.workers),
          set("ONE_SIDED", "1G"),  // larger than every message, so that send uses messages
          set("MESSAGES", s.what == domains_setup::kind::mask ? "domain_0" : "own"),
          set("POLL_MASK", s.what == domains_setup::kind::mask ? s.count : 0),
          set("SHARED_CONTEXT", s.what == domains_setup::kind::shared ? "on" : "off")};
}

domains_outcome read_answer(const std::string& text) {
  domains_outcome r;
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line)) return r;
  r.one_sided = line == "one_sided 1";
  bool whole = false;
  while (std::getline(lines, line) && !(whole = line == k_last_line)) r.values.push_back(domains_value::parse(line));
  if (!whole) r.values.clear();
  return r;
}

}  // namespace

domains_outcome run_domains_job(const domains_setup& setup, const domains_plan& plan, const std::string& transport,
                                bool network_memory) {
  const answer_file answer;
  auto environment = environment_of(setup, transport, network_memory);
  environment.push_back(fmt::format("{}={}", k_plan_variable, plan.text()));
  environment.push_back(fmt::format("{}={}", k_answer_variable, answer.path()));
  const std::vector<std::string> again{machine::own_executable(), "bench", "domains"};
  const unsigned nodes = setup.initiators() + 1;
  int status = 0;
  if (transport == "mpi") {
    machine::spawn_request request;
    request.arguments = {mpi_launcher(), "-n", std::to_string(nodes)};
    request.arguments.insert(request.arguments.end(), again.begin(), again.end());
    request.environment = environment;
    allow_all(request.environment);
    status = run_and_wait(request);
  } else {
    launch::hosts_job job;
    job.nodes = nodes;
    job.arguments = again;
    job.environment = environment;
    status = launch::launch_hosts(job);
  }
  domains_outcome r = read_answer(answer.read());
  if (status != 0 || r.values.empty())
    throw error(errc::system, fmt::format("the job of {} ended with status {} and {} values", setup.title(), status,
                                          r.values.size()));
  return r;
}

int serve_domains_job() {
  const char* const plan_text = std::getenv(k_plan_variable);
  const char* const answer = std::getenv(k_answer_variable);
  if (plan_text == nullptr || answer == nullptr || !runtime::is_launched()) return -1;
  const domains_plan plan = domains_plan::parse(plan_text);
  auto s = runtime::all_settings();
  s.accept_variable(k_plan_variable);
  s.accept_variable(k_answer_variable);
  s.check();
  return runtime::run_job(runtime::read_config(s), [&] {
    bool one_sided = false;
    const auto values = measure_domains(plan, one_sided);
    std::fstream out(answer, std::ios::in | std::ios::out);  // its size is fixed
    out << "one_sided " << (one_sided ? 1 : 0) << '\n';
    for (const domains_value& v : values) out << v.text() << '\n';
    out << k_last_line << '\n';
    return out.flush() ? 0 : 1;
  });
}

std::vector<mpi_program> find_mpi_programs() {
  std::vector<mpi_program> found;
  const auto folder = std::filesystem::path(machine::own_executable()).parent_path() / "bench" / "mpi";
  std::ifstream file(folder / "programs.json");
  const auto list = nlohmann::json::parse(file, nullptr, false);
  if (!list.is_object()) return found;
  for (const auto& one : list.value("programs", nlohmann::json::array())) {
    mpi_program p{one.value("program", ""), one.value("mpi", ""), one.value("path", ""), one.value("mpirun", "")};
    if ((p.program == "throughput" || p.program == "latency") && std::filesystem::exists(p.path) && exists(p.launcher))
      found.push_back(p);
  }
  return found;
}

mpi_value run_mpi_program(const mpi_program& p, unsigned pairs, bool threads, std::uint32_t bytes, double seconds) {
  const answer_file answer;
  machine::spawn_request request;
  request.arguments = {p.launcher,
                       "-n",
                       std::to_string(threads ? 2 : 2 * pairs),
                       p.path,
                       "--json",
                       "--threads",
                       std::to_string(threads ? pairs : 1),
                       "--bytes",
                       std::to_string(bytes),
                       "--seconds",
                       fmt::format("{}", seconds)};
  request.standard_output = answer.descriptor();
  allow_all(request.environment);
  const int status = run_and_wait(request);
  const auto said = nlohmann::json::parse(answer.read(), nullptr, false);
  mpi_value v;
  if (status != 0 || !said.is_object()) return v;
  const auto median = [&](const char* name) {
    const auto metrics = said.value("metrics", nlohmann::json::object());
    return metrics.contains(name) ? metrics[name].value("median", 0.0) : 0.0;
  };
  v.correct = said.contains("checks") && said["checks"].value("validated", false);
  v.latency_us = median("latency");
  v.mops = median("rate");
  return v;
}

}  // namespace shoal::bench

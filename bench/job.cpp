// SPDX-License-Identifier: Apache-2.0
#include "bench/job.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>

#include "bench/busy_loops.hpp"
#include "bench/report.hpp"
#include "launch/launcher_signs.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "runtime/job.hpp"
#include "runtime/start.hpp"
#include "shoal/error.hpp"

namespace shoal::bench {
namespace {

// Marks processes that this command started: they ignore -n, which the command has already used.
constexpr const char* k_own_variable = "SHOAL_OWN_JOB";

// The program with its buffers, and what UCX may take for each domain: a segment of 10.5 MB for receive buffers.
constexpr std::uint64_t k_node_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t k_simulated_node_bytes = std::uint64_t{512} << 10;
constexpr std::uint64_t k_domain_bytes = std::uint64_t{12} << 20;

unsigned workers_of(const base::settings& s, const job_options& options) {
  if (options.workers != 0) return options.workers;
  if (const unsigned set = runtime::read_config(s).workers; set != 0) return set;
  return std::max(machine::topology::discover().usable_processors() / std::max(options.nodes, 1U), 1U);
}

void bound_stacks(base::settings& s, const job_options& options) {
  if (options.waiting_bytes == 0 || s.get_size("waiting_memory") != 0) return;
  const std::uint64_t bytes = options.waiting_bytes * workers_of(s, options);
  s.set("waiting_memory", std::to_string(bytes), base::setting_origin::command_line);
}

}  // namespace

void add_job_options(CLI::App& app, job_options& options) {
  app.add_option("-n,--nodes", options.nodes, "nodes (processes on this machine)")
      ->check(CLI::Range(1U, 65536U))
      ->type_name("N");
  app.add_option("-w,--workers", options.workers, "worker threads per node; default: processors divided by nodes")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("W");
  app.add_option("--transport", options.transport,
                 "auto, shm (processes that share memory), ucx, mpi, inproc (all nodes in this process), or sim (a "
                 "simulated machine, in virtual time)")
      ->check(CLI::IsMember({"auto", "shm", "ucx", "mpi", "inproc", "sim"}))
      ->capture_default_str();
  app.add_option("--direct", options.direct, "on: nodes of a machine map each other's memory; off: messages only")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--steal", options.steal, "the victim policy of workers, for instance 'nearest(50,3,1)'")
      ->type_name("POLICY");
  add_page_options(app, options.pages, options.stack_pages);
  add_profile_options(app, options.profile);
}

void add_page_options(CLI::App& app, std::string& pages, std::string& stack_pages) {
  const auto is_choice = CLI::IsMember({"4k", "2m", "1g", "huge-try"});
  app.add_option("--pages", pages,
                 "pages of global memory: 4k; 2m or 1g, or an error; huge-try: 2 MiB if there are any")
      ->check(is_choice);
  app.add_option("--stack-pages", stack_pages, "the same for tasks' stacks, which have no guards on large ones")
      ->check(is_choice);
}

void apply_pages(base::settings& s, const std::string& pages, const std::string& stack_pages) {
  if (!pages.empty()) s.set("pages", pages, base::setting_origin::command_line);
  if (!stack_pages.empty()) s.set("stack_pages", stack_pages, base::setting_origin::command_line);
}

std::uint64_t runtime_bytes(const job_options& options) {
  auto s = runtime::all_settings();
  bound_stacks(s, options);
  const runtime::config c = runtime::read_config(s);
  const unsigned nodes = std::max(options.nodes, 1U);
  const std::string& transport = options.transport == "auto" ? c.transport : options.transport;
  const bool by_library = transport == "ucx" || transport == "mpi";
  const unsigned domains = workers_of(s, options);
  if (transport == "sim") return nodes * k_simulated_node_bytes;
  return nodes * (k_node_bytes + c.waiting_bytes + (by_library ? domains * k_domain_bytes : 0));
}

int run_as_job(const job_options& options, const std::function<int()>& main_task) {
  auto s = runtime::all_settings();
  s.accept_variable(k_own_variable);
  const unsigned nodes = options.nodes == 0 ? 1 : options.nodes;
  if (options.workers != 0) s.set("workers", std::to_string(options.workers), base::setting_origin::command_line);
  s.set("direct", options.direct, base::setting_origin::command_line);
  if (!options.steal.empty()) s.set("steal", options.steal, base::setting_origin::command_line);
  apply_pages(s, options.pages, options.stack_pages);
  options.profile.apply(s);
  bound_stacks(s, options);
  if (runtime::is_launched()) {
    const bool own = std::getenv(k_own_variable) != nullptr;
    if (options.nodes != 0 && !own)
      throw error(errc::invalid_argument, "-n is given, but the launcher defines the nodes; omit -n");
    if (options.load != 0 && !own)
      throw error(errc::invalid_argument, "--load is given under a launcher; start the load beside the job");
    s.check(!launch::another_process_warns());
    return runtime::run_job(runtime::read_config(s), main_task);
  }
  const busy_loops load(options.load);
  if (options.transport != "auto") s.set("transport", options.transport, base::setting_origin::command_line);
  const bool simulated = s.get_text("transport") == "sim";
  if (nodes > 1 && options.transport != "inproc" && !simulated) {
    s.check();
    runtime::start_request job;
    job.nodes = nodes;
    job.arguments = report::process_arguments();
    job.arguments.front() = machine::own_executable();
    job.environment.push_back(std::string(k_own_variable) + "=1");
    return runtime::start_job(runtime::read_config(s), job);  // reports errors once instead of in each process
  }
  // Where `shoal sim` has started this, it says how many.
  if (!simulated || options.nodes != 0) s.set("nodes", std::to_string(nodes), base::setting_origin::command_line);
  s.check();
  return runtime::run_in_process(runtime::read_config(s), main_task);
}

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "bench/job.hpp"
#include "launch/hosts_launch.hpp"
#include "runtime/job.hpp"
#include "runtime/start.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct run_request {
  unsigned nodes = 0;  // 0: not given
  unsigned workers = 0;
  std::string transport = "auto";
  std::string direct;
  std::string steal;
  std::string pages;
  std::string stack_pages;
  std::optional<unsigned> domains;
  std::string progress;
  std::optional<unsigned> helpers;
  bool verbose = false;
  std::string hosts;
  std::string remote_shell = "ssh";
  std::string listen;
  std::string restart;  // how often after a loss; empty: not given
  std::vector<std::string> program;
};

// The settings that the command line gives to the nodes of the job.
std::vector<std::string> environment_of(const run_request& request) {
  std::vector<std::string> result;
  if (request.workers != 0) result.push_back("SHOAL_WORKERS=" + std::to_string(request.workers));
  if (!request.direct.empty()) result.push_back("SHOAL_DIRECT=" + request.direct);
  if (!request.steal.empty()) result.push_back("SHOAL_STEAL=" + request.steal);
  if (!request.pages.empty()) result.push_back("SHOAL_PAGES=" + request.pages);
  if (!request.stack_pages.empty()) result.push_back("SHOAL_STACK_PAGES=" + request.stack_pages);
  if (request.domains) result.push_back("SHOAL_DOMAINS=" + std::to_string(*request.domains));
  if (!request.progress.empty()) result.push_back("SHOAL_PROGRESS=" + request.progress);
  if (request.helpers) result.push_back("SHOAL_HELPERS=" + std::to_string(*request.helpers));
  if (request.verbose) result.emplace_back("SHOAL_LOG=verbose");
  if (!request.restart.empty()) result.emplace_back("SHOAL_RESTART=on");
  return result;
}

unsigned restarts_of(const run_request& request) {
  constexpr unsigned k_most_restarts = 1000;
  unsigned count = 0;
  const char* const begin = request.restart.data();
  const char* const end = begin + request.restart.size();
  if (begin == end) return 0;
  if (const auto got = std::from_chars(begin, end, count);
      got.ec != std::errc{} || got.ptr != end || count > k_most_restarts)
    throw error(errc::invalid_argument,
                fmt::format("--restart={} is no number of restarts: give 0 to {}", request.restart, k_most_restarts));
  if (count > 0 && request.transport == "mpi")
    throw error(errc::invalid_argument,
                "--restart=COUNT is not for transport mpi, whose jobs mpirun starts; use --restart without a number");
  return count;
}

// As long as it loses a node, and has starts left.
int run_again(const runtime::config& c, const runtime::start_request& job, unsigned restarts) {
  for (;; --restarts) {
    bool lost_node = false;
    const int status = runtime::start_job(c, job, &lost_node);
    if (status == 0 || !lost_node || restarts == 0) return status;
    base::say("the job is started again, from its newest checkpoint; it may be {} more time{}", restarts - 1,
              restarts == 2 ? "" : "s");
  }
}

int run(const run_request& request) {
  if (request.program.empty())
    throw error(errc::invalid_argument, "nothing to run; name a program: shoal run -n 2 -- ./program");
  if (runtime::is_launched()) throw error(errc::invalid_argument, "shoal run inside a job: start only one of the two");
  auto s = runtime::all_settings();
  if (request.transport != "auto") s.set("transport", request.transport, base::setting_origin::command_line);
  bench::apply_pages(s, request.pages, request.stack_pages);
  s.check();
  runtime::start_request job;
  if (!request.hosts.empty()) job.hosts = launch::parse_hosts(request.hosts);
  job.nodes = request.nodes != 0 ? request.nodes : std::max(static_cast<unsigned>(job.hosts.size()), 1U);
  job.remote_shell = request.remote_shell;
  job.listen = request.listen;
  job.arguments = request.program;
  job.environment = environment_of(request);
  return run_again(runtime::read_config(s), job, restarts_of(request));
}

}  // namespace

subcommand_body declare_run(CLI::App& app) {
  auto request = std::make_shared<run_request>();
  app.add_option("-n,--nodes", request->nodes,
                 "nodes: processes on this machine (default 1), or on --hosts (default one on each)")
      ->check(CLI::Range(1U, 256U));
  app.add_option("-w,--workers", request->workers, "worker threads per node; default: processors divided by nodes")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--transport", request->transport, "how buffers travel: shm on one machine; ucx; mpi, by mpirun")
      ->check(CLI::IsMember({"auto", "shm", "ucx", "mpi"}));
  app.add_option("--direct", request->direct, "on (default): nodes map each other's memory; off: messages only")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--steal", request->steal, "the victim policy of workers, also one that PROGRAM adds")
      ->type_name("POLICY");
  bench::add_page_options(app, request->pages, request->stack_pages);
  app.add_option("--domains", request->domains,
                 "domains per node over ucx and mpi; fewer than workers: workers share them (default 0: one each)")
      ->check(CLI::Range(0U, 1024U));
  app.add_option("--progress", request->progress,
                 "over ucx and mpi: workers move their own messages, or a progress thread moves all (server)")
      ->check(CLI::IsMember({"workers", "server"}));
  app.add_option("--helpers", request->helpers,
                 "threads per node that only execute commands on its memory, if workers compute for a long time")
      ->check(CLI::Range(0U, 64U));
  app.add_flag("--restart{0}", request->restart,
               "programs go on from their newest checkpoints; =COUNT: and are started again up to so often after the "
               "loss of a node");
  app.add_flag("-v,--verbose", request->verbose, "print the configuration: nodes, machines, transport");
  auto* hosts =
      app.add_option("--hosts", request->hosts,
                     "machines to run on: a,b:2 (two nodes on b), or a file with a name in each line; started with "
                     "--remote-shell")
          ->type_name("A,B,...");
  app.add_option("--remote-shell", request->remote_shell,
                 "command that starts a program on another machine; host and command are appended (default ssh)")
      ->type_name("COMMAND")
      ->needs(hosts);
  app.add_option("--listen", request->listen,
                 "this machine's address to which the nodes on --hosts connect; default: the address of its name")
      ->type_name("ADDRESS")
      ->needs(hosts);
  app.add_option("program", request->program, "the program and its arguments, after --")->required();
  app.positionals_at_end();
  return [request] { return run(*request); };
}

}  // namespace shoal::tools

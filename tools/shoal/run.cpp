// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <memory>

#include "base/settings.hpp"
#include "launch/local_launch.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct run_request {
  unsigned nodes = 1;
  unsigned workers = 0;
  std::string transport = "shm";
  std::string direct = "on";
  std::string steal;
  std::vector<std::string> program;
};

int run(const run_request& request) {
  if (request.program.empty())
    throw error(errc::invalid_argument, "nothing to run; name a program: shoal run -n 2 -- ./program");
  if (runtime::is_launched()) throw error(errc::invalid_argument, "shoal run inside a job: leave one of the two out");
  auto s = runtime::all_settings();
  s.check();
  launch::local_job job;
  job.nodes = request.nodes;
  job.segment_bytes = s.get_size("segment");
  job.arguments = request.program;
  if (request.workers != 0) job.environment.push_back("SHOAL_WORKERS=" + std::to_string(request.workers));
  job.environment.push_back("SHOAL_DIRECT=" + request.direct);
  if (!request.steal.empty()) job.environment.push_back("SHOAL_STEAL=" + request.steal);
  return launch::launch_local(job);
}

}  // namespace

subcommand_body declare_run(CLI::App& app) {
  auto request = std::make_shared<run_request>();
  app.add_option("-n,--nodes", request->nodes, "nodes: processes on this machine")->check(CLI::Range(1U, 256U));
  app.add_option("-w,--workers", request->workers, "worker threads per node; default: processors divided by nodes")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--transport", request->transport, "how processes reach each other")->check(CLI::IsMember({"shm"}));
  app.add_option("--direct", request->direct, "on: nodes map each other's memory; off: messages only")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--steal", request->steal, "whom workers steal from: a victim policy, also one that PROGRAM adds")
      ->type_name("POLICY");
  app.add_option("program", request->program, "the program and its arguments, behind --")->required();
  app.positionals_at_end();
  return [request] { return run(*request); };
}

}  // namespace shoal::tools

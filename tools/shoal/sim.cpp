// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "machine/process.hpp"
#include "net/transports/sim/faults.hpp"
#include "runtime/job.hpp"
#include "shoal/error.hpp"
#include "tools/shoal/subcommands.hpp"

namespace shoal::tools {
namespace {

struct sim_request {
  unsigned nodes = 2;
  unsigned workers = 1;
  std::string network;
  std::string topology;
  std::optional<double> latency_ns;
  std::optional<double> bandwidth_gbit;
  std::optional<std::uint64_t> seed;
  std::optional<double> jitter;
  std::string compute;
  std::optional<double> factor;
  std::string costs;
  std::string faults;
  std::vector<std::string> program;
};

int simulate(const sim_request& request) {
  if (request.program.empty())
    throw error(errc::invalid_argument, "nothing to run; name a program: shoal sim --nodes 256 -- ./program");
  if (runtime::is_launched()) throw error(errc::invalid_argument, "shoal sim inside a job: start only one of the two");
  std::vector<std::string> environment;
  auto s = runtime::all_settings();
  const auto set = [&](const char* name, const std::string& value) {
    s.set(name, value, base::setting_origin::command_line);
    std::string variable = fmt::format("SHOAL_{}={}", name, value);
    for (char& c : variable) {
      if (c == '=') break;
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    environment.push_back(std::move(variable));
  };
  set("transport", "sim");
  set("nodes", std::to_string(request.nodes));
  set("workers", std::to_string(request.workers));
  if (!request.network.empty()) set("sim_network", request.network);
  if (!request.topology.empty()) set("sim_topology", request.topology);
  if (request.latency_ns) set("sim_latency", fmt::format("{}", *request.latency_ns));
  if (request.bandwidth_gbit) set("sim_bandwidth", fmt::format("{}", *request.bandwidth_gbit));
  if (request.seed) set("sim_seed", std::to_string(*request.seed));
  if (request.jitter) set("sim_jitter", fmt::format("{}", *request.jitter));
  if (!request.compute.empty()) set("sim_compute", request.compute);
  if (request.factor) set("sim_factor", fmt::format("{}", *request.factor));
  if (!request.costs.empty()) set("sim_costs", request.costs);
  if (!request.faults.empty()) set("sim_faults", request.faults);
  s.check();
  const runtime::config c = runtime::read_config(s);  // says here what is wrong
  static_cast<void>(net::faults_of(c.sim.faults, c.nodes, c.sim.seed));
  machine::fix_addresses();
  std::vector<std::string> command = request.program;
  if (command.front() == "mpirun" || command.front() == "mpiexec") {  // this one, and no other library's
    command.front() = "mpirun";
    command.insert(command.begin(), machine::own_executable());
  }
  machine::become(command, environment);
}

}  // namespace

subcommand_body declare_sim(CLI::App& app) {
  auto request = std::make_shared<sim_request>();
  app.add_option("-n,--nodes", request->nodes, "simulated nodes")->check(CLI::Range(1U, 65536U))->capture_default_str();
  app.add_option("-w,--workers", request->workers, "workers per node, each on a processor of its own")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--network", request->network, "what connects the nodes (default infiniband)")
      ->check(CLI::IsMember({"infiniband", "slingshot", "ethernet"}));
  app.add_option("--topology", request->topology, "how, if not as that network usually does")
      ->check(CLI::IsMember({"own", "flat", "fat_tree", "torus"}));
  app.add_option("--latency", request->latency_ns, "nanoseconds between two network cards")->type_name("NS");
  app.add_option("--bandwidth", request->bandwidth_gbit, "of network cards and links")->type_name("GBIT/S");
  app.add_option("--seed", request->seed, "of what is random; the same seed gives the same run");
  app.add_option("--jitter", request->jitter,
                 "latencies and wake-ups take at random at most so much longer, as a part");
  app.add_option("--compute", request->compute,
                 "what computing takes: as the table --costs says (default), or as measured here")
      ->check(CLI::IsMember({"table", "measured"}));
  app.add_option("--factor", request->factor, "simulated time for one unit of measured time");
  app.add_option("--costs", request->costs, "changes of the table of costs, as in iteration=20ns,send=0.3us")
      ->type_name("NAME=TIME,...");
  app.add_option("--faults", request->faults,
                 "what fails and when, as in stop(3,1ms,500us)+cut(0-1,2ms,1ms); also die(NODE,AT), "
                 "slow(A-B,FACTOR,AT,FOR), random(COUNT,WITHIN)")
      ->type_name("FAULT+...");
  app.add_option("program", request->program, "the program and its arguments, after --")->required();
  app.positionals_at_end();
  return [request] { return simulate(*request); };
}

}  // namespace shoal::tools

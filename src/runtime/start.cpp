// SPDX-License-Identifier: Apache-2.0
#include "runtime/start.hpp"

#include <fmt/format.h>

#include <optional>

#include "launch/child_watch.hpp"
#include "launch/hosts_launch.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"
#include "net/plugin.hpp"
#include "runtime/transports.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

// The launcher of the MPI that there is a transport for.
std::vector<std::string> mpi_launcher(const config& c, unsigned nodes) {
  const auto folders = net::plugin_folders(c.plugins);
  for (const std::string& mpi : {std::string("openmpi"), std::string("mpich")}) {
    if (!net::has_plugin("mpi_" + mpi, folders)) continue;
    for (const std::string& name : {"mpirun." + mpi, "mpiexec." + mpi}) {
      const std::string path = machine::find_program(name);
      if (path == name) continue;  // not in PATH
      std::vector<std::string> command{path};
      if (mpi == "openmpi") command.insert(command.end(), {"--oversubscribe", "--bind-to", "none"});
      command.insert(command.end(), {"-n", std::to_string(nodes)});
      return command;
    }
  }
  find_plugin(c, "mpi");  // throws if it is missing
  throw error(errc::not_found,
              "transport mpi is started by mpirun, and neither mpirun.openmpi nor mpirun.mpich is in PATH; start the "
              "program with your MPI's launcher: mpirun -n 2 PROGRAM");
}

// What is known of a job that another launcher runs: only how that ends.
class launcher_view final : public launch::job_view {
public:
  launch::presence at(std::uint32_t) override { return launch::presence::left; }
  void announce_lost(std::uint32_t, const std::string&) override {}
  std::optional<std::uint32_t> lost() override { return std::nullopt; }
  void interrupt(int) override {}
  int process_of(std::uint32_t, int) override { return 0; }
  std::string describe(std::uint32_t, int) override { return "the launcher"; }
};

// As a child, to end it in time: it ends its processes when it gets SIGTERM.
int run_launcher(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                 std::int64_t limit_ns) {
  machine::interruption stop;
  std::vector<machine::child_process> launcher;
  launcher.push_back(machine::spawn({.arguments = command, .environment = environment, .inherited = {}}));
  launcher_view view;
  return launch::watch_children(launcher, view, stop, true, limit_ns).status;
}

}  // namespace

int start_job(const config& c, const start_request& request, bool* lost_node) {
  if (c.transport == "inproc")
    throw error(errc::invalid_argument,
                fmt::format("transport inproc is for nodes in one process: start the program by itself with "
                            "SHOAL_NODES={}",
                            request.nodes));
  std::vector<std::string> environment = request.environment;
  environment.push_back(std::string(launch::k_warned_variable) + "=1");
  if (request.hosts.empty() && (c.transport == "auto" || c.transport == "shm")) {
    launch::local_job job;
    job.nodes = request.nodes;
    job.segment_bytes = c.segment_bytes;
    job.pages = c.pages;
    job.arguments = request.arguments;
    job.environment = environment;
    job.ranks_per_node = request.ranks_per_node;
    job.limit_ns = request.limit_ns;
    return launch::launch_local(job, lost_node);
  }
  if (c.transport == "shm")
    throw error(errc::invalid_argument,
                "transport shm is for nodes that shoal run starts on this machine; leave --hosts out, or use ucx");
  environment.push_back("SHOAL_TRANSPORT=" + c.transport);
  if (c.transport == "mpi") {
    if (!request.hosts.empty())
      throw error(
          errc::invalid_argument,
          "hosts of transport mpi are mpirun's matter: mpirun -n 2 --host a,b PROGRAM with SHOAL_TRANSPORT=mpi");
    std::vector<std::string> command = mpi_launcher(c, request.nodes);
    command.insert(command.end(), request.arguments.begin(), request.arguments.end());
    if (request.limit_ns != 0) return run_launcher(command, environment, request.limit_ns);
    machine::become(command, environment);
  }
  find_plugin(c, c.transport == "auto" ? "ucx" : c.transport);  // reports a missing plugin once
  launch::hosts_job job;
  job.nodes = request.nodes;
  job.hosts = request.hosts;
  job.remote_shell = request.remote_shell;
  job.listen = request.listen.empty() ? c.hub_address : request.listen;
  job.silence_ns = c.silence_ns;
  job.start_ns = c.start_timeout_ns;
  job.arguments = request.arguments;
  job.environment = environment;
  job.ranks_per_node = request.ranks_per_node;
  job.limit_ns = request.limit_ns;
  return launch::launch_hosts(job, lost_node);
}

}  // namespace shoal::runtime

// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>

#include "base/log.hpp"
#include "launch/child_watch.hpp"
#include "launch/control.hpp"
#include "launch/remote_script.hpp"
#include "launch/rendezvous.hpp"
#include "machine/environment.hpp"
#include "machine/process_limits.hpp"
#include "machine/socket.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

constexpr int k_signal_base = 128;
constexpr int k_remote_shell_failed = 255;       // of ssh
constexpr unsigned k_most_processes = 1U << 22;  // that Linux allows a machine
// Of each node: its process, its connection to the hub, the input of its remote shell.
constexpr std::uint64_t k_node_descriptors = 3;
constexpr std::uint64_t k_own_descriptors = 256;

class hub_view final : public job_view {
public:
  hub_view(hub& h, const std::vector<std::string>& hosts, std::vector<machine::socket>& inputs,
           unsigned ranks_per_node) noexcept
      : job_view(ranks_per_node), hub_(h), hosts_(hosts), inputs_(inputs) {}

  presence at(std::uint32_t node) override { return hub_.at(node); }
  void announce_lost(std::uint32_t node, const std::string& how) override { hub_.announce_lost(node, how); }
  std::optional<std::uint32_t> lost() override {
    const auto first = hub_.lost();
    return first ? std::optional(first->node) : std::nullopt;
  }
  void interrupt(int signal) override { hub_.interrupt(signal); }
  int process_of(std::uint32_t, int child) override { return hosts_.empty() ? child : 0; }
  std::string describe(std::uint32_t node, int pid) override {
    if (hub_.at(node) != presence::absent) return hub_.describe(node);
    return hosts_.empty() ? fmt::format("node {} (process {})", node, pid)
                          : fmt::format("node {} (host {})", node, hosts_[node]);
  }
  // A remote shell's own end shows the program's: 128 and the signal, as shells do.
  std::string describe_end(const machine::exit_status& how) override {
    if (hosts_.empty() || how.signal != 0 || how.code <= k_signal_base) return machine::describe(how);
    if (how.code == k_remote_shell_failed) return "could not be reached, or ended with status 255: see above";
    return machine::describe({0, how.code - k_signal_base});
  }
  bool end_elsewhere() override {
    const bool any = !inputs_.empty();
    inputs_.clear();
    return any;
  }
  int descriptor() override { return hub_.descriptor(); }
  std::string why() override {
    const auto first = hub_.lost();
    return first ? first->why : std::string();
  }

private:
  hub& hub_;
  const std::vector<std::string>& hosts_;  // by node
  std::vector<machine::socket>& inputs_;   // of the remote shells: their ends end the programs
};

// By node; empty if all are on this machine.
std::vector<std::string> spread(const hosts_job& job, unsigned nodes) {
  std::vector<std::string> result;
  for (unsigned n = 0; n < nodes && !job.hosts.empty(); ++n)
    result.push_back(job.hosts[job.hosts.size() <= nodes ? n * job.hosts.size() / nodes : n]);
  return result;
}

// What other machines are to be told: what concerns Shoal and its network here, but not this process's place in another
// job.
std::vector<std::string> remote_environment(const std::vector<std::string>& added) {
  std::vector<std::string> result;
  for (const std::string& variable : machine::variables("SHOAL_"))
    if (!variable.starts_with("SHOAL_LAUNCH=") && !variable.starts_with("SHOAL_HUB=") &&
        !variable.starts_with("SHOAL_TAKEN="))
      result.push_back(variable);
  std::ranges::move(machine::variables("UCX_"), std::back_inserter(result));
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

void send_whole(machine::socket& to, const std::string& text) {
  auto left = std::as_bytes(std::span(text));
  while (!left.empty()) {
    const machine::transfer moved = to.send(left);
    if (moved.state == machine::stream_state::closed) return;  // it has ended already, and says so
    if (moved.state == machine::stream_state::blocked)
      throw error(errc::exhausted,
                  fmt::format("{} bytes of arguments and SHOAL_ variables are more than a remote shell "
                              "takes at once; put them into a file",
                              text.size()));
    left = left.subspan(moved.bytes);
  }
}

// "name", or "name:2" twice.
void add_host(std::vector<std::string>& hosts, const std::string& text, const std::string& list) {
  std::string host = text;
  unsigned times = 1;
  // More than one colon: an address of IPv6.
  if (const auto colon = text.find(':'); colon != std::string::npos && colon == text.rfind(':')) {
    host = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data() + colon + 1, end, times);
    if (failed != std::errc() || rest != end || times < 1 || times > k_most_processes)
      throw error(errc::invalid_argument,
                  fmt::format("--hosts '{}': '{}' does not say how many processes: name:N, with N from 1 to {}", list,
                              text, k_most_processes));
  }
  // What begins with a dash would be an option of the remote shell.
  const bool odd = std::ranges::any_of(host, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
  if (host.empty() || host.front() == '-' || odd)
    throw error(errc::invalid_argument, fmt::format("--hosts '{}' names a host '{}', which cannot be one; separate "
                                                    "names by commas alone",
                                                    list, host));
  hosts.insert(hosts.end(), times, host);
}

}  // namespace

std::vector<std::string> parse_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  if (std::error_code none; std::filesystem::is_regular_file(list, none)) {
    std::ifstream file(list);
    if (!file) throw error(errc::invalid_argument, fmt::format("--hosts: cannot read the file '{}'", list));
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      std::string name, slots;
      if (!(words >> name)) continue;
      if (words >> slots && slots.starts_with("slots=")) name += ":" + slots.substr(slots.find('=') + 1);
      add_host(hosts, name, list);
    }
    if (hosts.empty()) throw error(errc::invalid_argument, fmt::format("--hosts: the file '{}' names no host", list));
    return hosts;
  }
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    add_host(hosts, list.substr(at, end - at), list);
    at = end + 1;
  }
  return hosts;
}

int launch_hosts(const hosts_job& job, bool* lost_node) {
  const unsigned nodes = job.nodes != 0 ? job.nodes : static_cast<unsigned>(std::max<std::size_t>(job.hosts.size(), 1));
  const std::uint64_t wanted = nodes * k_node_descriptors + k_own_descriptors;
  if (const std::uint64_t limit = machine::allow_descriptors(wanted); limit < wanted)
    throw error(errc::exhausted, fmt::format("to start {} nodes takes {} open descriptors, and {} are allowed; raise "
                                             "the limit (ulimit -Hn)",
                                             nodes, wanted, limit));
  const bool remote = !job.hosts.empty();
  hub_options options;
  options.nodes = nodes;
  options.silence_ns = job.silence_ns;
  options.start_ns = job.start_ns;
  const bool one_machine = std::ranges::all_of(job.hosts, [](const auto& h) { return h == "localhost"; });
  options.address = job.listen.empty() ? default_hub_address(one_machine) : job.listen;
  hub center(options);

  const auto hosts = spread(job, nodes);
  machine::interruption stop;
  std::vector<machine::socket> inputs;
  std::vector<machine::child_process> processes;
  for (unsigned n = 0; n < nodes; ++n) {
    const std::string place =
        fmt::format("{}=node={} nodes={} hub={}", k_hub_variable, n, nodes, center.place().text());
    machine::spawn_request request;
    if (!remote) {
      request.arguments = job.arguments;
      request.environment = job.environment;
      request.environment.push_back(place);
      processes.push_back(machine::spawn(request));
      continue;
    }
    remote_program program{hosts[n], std::filesystem::current_path(), remote_environment(job.environment),
                           job.arguments};
    program.environment.push_back(place);
    program.arguments.front() = machine::find_program(program.arguments.front());
    auto [ours, theirs] = machine::socket::pair();
    request.arguments = remote_command(job.remote_shell, hosts[n]);
    request.standard_input = theirs.descriptor();
    processes.push_back(machine::spawn(request));
    send_whole(ours, remote_input(program));
    inputs.push_back(std::move(ours));
  }
  hub_view view(center, hosts, inputs, job.ranks_per_node);
  const job_end end = watch_children(processes, view, stop, !remote, job.limit_ns);
  if (lost_node != nullptr) *lost_node = end.lost_node;
  bool nobody = remote && nodes > 1 && end.status == 0;  // a single node need not call
  for (unsigned n = 0; n < nodes; ++n) nobody = nobody && center.at(n) == presence::absent;
  if (nobody)
    base::say("no node of this job has come: either {} does not start the runtime, or {} did not run it",
              job.arguments.front(), job.remote_shell);
  return end.status;
}

}  // namespace shoal::launch

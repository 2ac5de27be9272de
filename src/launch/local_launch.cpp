// SPDX-License-Identifier: Apache-2.0
#include "launch/local_launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/world.hpp"
#include "machine/environment.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/segment.hpp"
#include "machine/signals.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

// Reads "name=value" out of the launch variable.
std::optional<std::string> field(const std::string& text, const std::string& name) {
  const auto begin = (" " + text).find(" " + name + "=");
  if (begin == std::string::npos) return std::nullopt;
  const auto value = begin + name.size() + 1;
  return text.substr(value, text.find(' ', value) - value);
}

std::uint32_t number(const std::string& text, const std::string& name) {
  const auto value = field(text, name);
  char* end = nullptr;
  const unsigned long n = value ? std::strtoul(value->c_str(), &end, 10) : 0;
  if (!value || value->empty() || *end != '\0')
    throw error(errc::bad_input, fmt::format("{}='{}' lacks a number for {}; it is set by `shoal run` and not by hand",
                                             k_launch_variable, text, name));
  return static_cast<std::uint32_t>(n);
}

// The processes of a running job, and what is to be done with them.
class children {
public:
  void add(machine::child_process p) { processes_.push_back(std::move(p)); }
  bool any() const {
    return std::any_of(processes_.begin(), processes_.end(), [](const auto& p) { return p.running(); });
  }
  void signal_all(int number) {
    for (auto& p : processes_)
      if (p.running()) p.kill(number);
  }
  std::vector<machine::child_process>& all() { return processes_; }

private:
  std::vector<machine::child_process> processes_;
};

int watch(children& job, world& shared, machine::interruption& stop) {
  int status = 0;
  bool failing = false;
  int follower_status = 0;      // of a node that left because another was lost
  bool awaiting_cause = false;  // and the process of that one has not ended yet
  std::uint64_t kill_at_ns = 0;
  while (job.any()) {
    std::vector<int> descriptors;
    for (auto& p : job.all()) descriptors.push_back(p.running() ? p.descriptor() : -1);
    descriptors.push_back(failing ? -1 : stop.descriptor());
    std::int64_t wait_ns = -1;
    if (failing) {
      const std::uint64_t now = base::now_ns();
      wait_ns = now < kill_at_ns ? static_cast<std::int64_t>(kill_at_ns - now) : 0;
    }
    const int ready = machine::wait_any(descriptors, wait_ns);
    if (ready < 0) {
      job.signal_all(SIGKILL);
      awaiting_cause = false;  // what ends now ends by our hand
      kill_at_ns = base::now_ns() + static_cast<std::uint64_t>(k_grace_ns);
      continue;
    }
    const auto index = static_cast<std::size_t>(ready);
    const auto begin_to_fail = [&] {
      if (std::exchange(failing, true)) return;
      kill_at_ns = base::now_ns() + static_cast<std::uint64_t>(k_grace_ns);
    };
    if (index == job.all().size()) {
      shared.interrupted().store(static_cast<std::uint32_t>(stop.signal()), std::memory_order_release);
      status = 128 + stop.signal();
      job.signal_all(stop.signal());
      begin_to_fail();
      continue;
    }
    const int pid = job.all()[index].pid();
    const machine::exit_status ended = job.all()[index].reap();
    const auto n = static_cast<std::uint32_t>(index);
    const bool left = shared.at(n).state.load(std::memory_order_acquire) == node_state::left;
    if ((failing && !awaiting_cause) || (ended.clean() && left)) continue;
    if (stop.signal() != 0 && ended.signal == stop.signal()) {  // Ctrl-C reaches the whole group of processes
      status = 128 + ended.signal;
      begin_to_fail();
      continue;
    }
    if (left || ended.clean()) {  // it says itself what is wrong
      if (status == 0) status = ended.shell_code();
      if (left) continue;
      if (status == 0) status = 1;
      // A program that never starts the runtime simply runs as many times as there are nodes.
      if (ended.clean() && shared.at(n).state.load() == node_state::absent) {
        status = 0;
        continue;
      }
    }
    // Others may have seen it die before it was reaped here, announced it, and left already: theirs is not the cause.
    shared.announce_lost(n);
    if (shared.lost().load(std::memory_order_acquire) != n + 1) {
      if (follower_status == 0) follower_status = ended.shell_code();
      awaiting_cause = true;
      begin_to_fail();  // the process may be a script that has outlived the node
      continue;
    }
    base::say("node {} (process {}) {}; the others are told to leave", n, pid, machine::describe(ended));
    if (status == 0) status = std::max(ended.shell_code(), 1);
    awaiting_cause = false;
    begin_to_fail();
  }
  return status != 0 ? status : follower_status;
}

}  // namespace

std::optional<launched_node> launched() {
  const char* variable = std::getenv(k_launch_variable);
  if (variable == nullptr) return std::nullopt;
  const std::string text = variable;
  launched_node l;
  if (field(text, "taken")) {
    if (static_cast<int>(number(text, "taken")) != machine::own_pid()) return std::nullopt;
    l.taken = true;
  }
  l.node = number(text, "node");
  l.nodes = number(text, "nodes");
  l.world_descriptor = static_cast<int>(number(text, "world"));
  const std::string list = field(text, "segments").value_or("");
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    l.segment_descriptors.push_back(std::atoi(list.substr(at, end - at).c_str()));
    at = end + 1;
  }
  if (l.node >= l.nodes || l.segment_descriptors.size() != l.nodes)
    throw error(errc::bad_input, fmt::format("{}='{}' contradicts itself", k_launch_variable, text));
  return l;
}

void take_place() {
  machine::set_variable(k_launch_variable,
                        fmt::format("{} taken={}", std::getenv(k_launch_variable), machine::own_pid()));
}

std::uint64_t default_segment_bytes(unsigned nodes) {
  // No more than what offsets in a segment can name, by half.
  const std::uint64_t memory =
      std::min(machine::round_up(machine::memory_info().total_bytes, machine::k_huge_page_bytes), k_most_segment_bytes);
  const std::uint64_t address_space = machine::address_space_limit();
  if (address_space == machine::k_no_limit) return memory;
  // A quarter for all segments together: stacks and the rest of the program want theirs.
  const std::uint64_t share = address_space / 4 / nodes;
  return std::max<std::uint64_t>(machine::round_down(std::min(memory, share), machine::k_huge_page_bytes),
                                 machine::k_huge_page_bytes);
}

int launch_local(const local_job& job) {
  if (job.nodes < 1 || job.nodes > k_most_nodes)
    throw error(errc::invalid_argument, fmt::format("-n takes 1 to {} nodes, not {}", k_most_nodes, job.nodes));
  const std::uint64_t segment_bytes = job.segment_bytes != 0 ? job.segment_bytes : default_segment_bytes(job.nodes);
  auto world_memory = machine::segment::create("shoal-world", k_world_bytes, true);
  std::vector<machine::segment> segments;
  std::vector<int> inherited{world_memory.descriptor()};
  std::vector<int> descriptors;
  for (unsigned n = 0; n < job.nodes; ++n) {
    segments.push_back(machine::segment::create(fmt::format("shoal-node-{}", n), segment_bytes, true));
    descriptors.push_back(segments.back().descriptor());
    inherited.push_back(segments.back().descriptor());
  }
  world shared(world_memory.map(k_world_header_bytes));
  machine::interruption stop;
  children processes;
  for (unsigned n = 0; n < job.nodes; ++n) {
    machine::spawn_request request;
    request.arguments = job.arguments;
    request.environment = job.environment;
    request.environment.push_back(fmt::format("{}=node={} nodes={} world={} segments={}", k_launch_variable, n,
                                              job.nodes, world_memory.descriptor(), fmt::join(descriptors, ",")));
    request.inherited = inherited;
    processes.add(machine::spawn(request));
  }
  return watch(processes, shared, stop);
}

}  // namespace shoal::launch

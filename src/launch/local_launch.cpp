// SPDX-License-Identifier: Apache-2.0
#include "launch/local_launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "launch/child_watch.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/world.hpp"
#include "machine/environment.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/segment.hpp"
#include "machine/signals.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

// The page that the nodes share tells the launcher what it does not see of their processes.
class world_view final : public job_view {
public:
  world_view(world& shared, unsigned ranks_per_node) noexcept : job_view(ranks_per_node), shared_(shared) {}

  presence at(std::uint32_t node) override {
    switch (shared_.at(node).state.load(std::memory_order_acquire)) {
      case node_state::absent: return presence::absent;
      case node_state::left: return presence::left;
      default: return presence::present;
    }
  }
  void announce_lost(std::uint32_t node, const std::string&) override { shared_.announce_lost(node); }
  std::optional<std::uint32_t> lost() override {
    const std::uint32_t first = shared_.lost().load(std::memory_order_acquire);
    return first != 0 ? std::optional(first - 1) : std::nullopt;
  }
  void interrupt(int signal) override {
    shared_.interrupted().store(static_cast<std::uint32_t>(signal), std::memory_order_release);
  }
  int process_of(std::uint32_t node, int child) override {
    return shared_.at(node).state.load(std::memory_order_acquire) == node_state::joined ? shared_.at(node).pid : child;
  }
  std::string describe(std::uint32_t node, int pid) override { return fmt::format("node {} (process {})", node, pid); }

private:
  world& shared_;
};

}  // namespace

std::optional<launched_node> launched() {
  const char* variable = std::getenv(k_launch_variable);
  if (variable == nullptr) return std::nullopt;
  const std::string text = variable;
  launched_node l;
  if (field_in(text, "taken")) {
    if (static_cast<int>(number_in(text, "taken", k_launch_variable)) != machine::own_pid()) return std::nullopt;
    l.taken = true;
  }
  l.node = number_in(text, "node", k_launch_variable);
  l.nodes = number_in(text, "nodes", k_launch_variable);
  l.world_descriptor = static_cast<int>(number_in(text, "world", k_launch_variable));
  const std::string list = field_in(text, "segments").value_or("");
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

segment_plan plan_segment(machine::page_choice pages, std::uint64_t bytes, unsigned nodes) {
  segment_plan plan{bytes != 0 ? bytes : default_segment_bytes(nodes), 0};
  // The others are ordinary memory in any case.
  if (pages != machine::page_choice::huge && pages != machine::page_choice::giant) return plan;
  plan.pool_page_bytes =
      machine::plan_pages(pages, machine::shared_page_facts(), "global memory (setting pages)").pool_page_bytes;
  if (plan.pool_page_bytes == 0) return plan;
  const std::uint64_t pool = machine::read_page_pool(plan.pool_page_bytes).pages * plan.pool_page_bytes;
  plan.bytes = std::min<std::uint64_t>(machine::round_up(plan.bytes, plan.pool_page_bytes), pool);
  return plan;
}

int launch_local(const local_job& job, bool* lost_node) {
  if (job.nodes < 1 || job.nodes > k_most_nodes)
    throw error(errc::invalid_argument, fmt::format("-n takes 1 to {} nodes, not {}", k_most_nodes, job.nodes));
  const segment_plan plan = plan_segment(job.pages, job.segment_bytes, job.nodes);
  auto world_memory = machine::segment::create("shoal-world", k_world_bytes, true);
  std::vector<machine::segment> segments;
  std::vector<int> inherited{world_memory.descriptor()};
  std::vector<int> descriptors;
  for (unsigned n = 0; n < job.nodes; ++n) {
    segments.push_back(
        machine::segment::create(fmt::format("shoal-node-{}", n), plan.bytes, true, plan.pool_page_bytes));
    descriptors.push_back(segments.back().descriptor());
    inherited.push_back(segments.back().descriptor());
  }
  world shared(world_memory.map(k_world_header_bytes));
  machine::interruption stop;
  std::vector<machine::child_process> processes;
  for (unsigned n = 0; n < job.nodes; ++n) {
    machine::spawn_request request;
    request.arguments = job.arguments;
    request.environment = job.environment;
    request.environment.push_back(fmt::format("{}=node={} nodes={} world={} segments={}", k_launch_variable, n,
                                              job.nodes, world_memory.descriptor(), fmt::join(descriptors, ",")));
    request.inherited = inherited;
    processes.push_back(machine::spawn(request));
  }
  world_view view(shared, job.ranks_per_node);
  const job_end end = watch_children(processes, view, stop, true, job.limit_ns);
  if (lost_node != nullptr) *lost_node = end.lost_node;
  return end.status;
}

}  // namespace shoal::launch

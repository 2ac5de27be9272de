// SPDX-License-Identifier: Apache-2.0
#include "runtime/simulation.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/log.hpp"
#include "launch/local_launch.hpp"
#include "machine/memory_info.hpp"
#include "runtime/job_questions.hpp"
#include "runtime/transports.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

// All nodes' segments and stacks must fit into half of an address space of 47 bits.
constexpr std::uint64_t k_segments_bytes = std::uint64_t{1} << 45;
constexpr std::uint64_t k_stacks_bytes = std::uint64_t{1} << 44;
// What the free memory of the host would choose must not be different from run to run.
constexpr std::uint64_t k_overflow_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t k_memory_bytes = std::uint64_t{4} << 30;  // of a node: 64 MiB for buffers
constexpr std::uint64_t k_waiting_bytes = std::uint64_t{64} << 20;

config& adapt(config& c) {
  if (c.helpers != 0)
    throw error(errc::unsupported, "transport sim gives each worker a processor; leave SHOAL_HELPERS out");
  if (c.workers == 0) c.workers = 1;
  c.direct = false;  // or accesses to other nodes would take no time
  c.pin = false;
  c.hang_ns = 0;            // of its own: nothing can come from outside
  if (!c.spin) c.spin = 1;  // a look that finds nothing says that nothing is there
  if (c.overflow_memory == 0) c.overflow_memory = k_overflow_bytes;
  if (c.waiting_bytes == 0) c.waiting_bytes = k_waiting_bytes;
  if (c.most_stacks == 0)
    c.most_stacks = std::clamp<std::size_t>(k_stacks_bytes / c.nodes / c.stack_bytes, 256, std::size_t{1} << 20);
  if (c.segment_bytes == 0) {
    const std::uint64_t share = machine::round_down(k_segments_bytes / c.nodes, machine::k_huge_page_bytes);
    c.segment_bytes = std::min(launch::default_segment_bytes(c.nodes), share);
  }
  choose_routes(c, c.nodes, k_memory_bytes, {});
  return c;
}

net::sim_clock_options clock_of(const config& c) {
  net::sim_clock_options o;
  o.seed = c.sim.seed;
  o.lookahead_ps = c.sim.network.latency_ps;
  o.jitter = c.sim.jitter;
  o.measured_factor = c.sim.measured_factor;
  o.costs = c.sim.costs;
  o.stack_bytes = c.sim.stack_bytes;
  return o;
}

net::sim_world_shape world_of(const config& c) {
  return {c.nodes, c.workers, c.buffer_bytes, c.buffers, c.sim.network, c.plan.is_routed()};
}

}  // namespace

simulation::simulation(config& c)
    : settings_(adapt(c)), began_ns_(base::machine_now_ns()), executor_(clock_of(c)), world_(world_of(c), executor_) {
  c.executor = &executor_;
}

void simulation::watch(std::vector<node*> nodes) {
  constexpr std::size_t k_most_lines = 40;
  executor_.when_deadlocked([all = std::move(nodes)] {
    watched_job job;
    for (node* const n : all) job.pools.push_back(&n->workers());
    job.nodes = static_cast<std::uint32_t>(all.size());
    machine::symbols names;
    base::write_line("", table_of(waits_here(job, names), k_most_lines));
  });
}

void simulation::report() const {
  const double host_s = static_cast<double>(base::machine_now_ns() - began_ns_) * 1e-9;
  base::say("simulated {} of {}: {:.6f} s; {}, {:.1f} MB; {:.1f} s of this machine; seed {}, run {:016x}",
            base::counted(settings_.nodes, "node"), base::counted(settings_.workers, "worker"),
            static_cast<double>(executor_.latest_ps()) * 1e-12, base::counted(world_.total().messages, "message"),
            static_cast<double>(world_.total().bytes) * 1e-6, host_s, settings_.sim.seed, executor_.digest());
}

}  // namespace shoal::runtime

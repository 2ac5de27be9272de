// SPDX-License-Identifier: Apache-2.0
#include "runtime/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "launch/local_launch.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
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

net::sim_clock_options clock_of(const config& c, const std::vector<net::sim_fault>& faults) {
  net::sim_clock_options o;
  o.seed = c.sim.seed;
  o.lookahead_ps = c.sim.network.latency_ps;
  o.jitter = c.sim.jitter;
  o.measured_factor = c.sim.measured_factor;
  o.costs = c.sim.costs;
  o.faults = faults;
  o.stack_bytes = c.sim.stack_bytes;
  return o;
}

net::sim_world_shape world_of(const config& c, const std::vector<net::sim_fault>& faults) {
  return {c.nodes, c.workers, c.buffer_bytes, c.buffers, c.sim.network, faults, c.plan.is_routed()};
}

}  // namespace

// Ends the job some time after the first death, as a launcher ends it that has lost a process.
class simulation::death_watch final : machine::activity {
public:
  death_watch(net::sim_executor& by, const net::sim_fault& death)
      : executor_(by), death_(death), runner_(by.make_runner("deaths", *this)) {
    runner_->start();
  }
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;
  ~death_watch() { runner_->stop(); }

private:
  std::int64_t tick() noexcept override {
    constexpr std::uint64_t k_notice_ns = 1'000'000, k_ps_per_ns = 1000;
    const std::uint64_t due_ns = death_.from_ps / k_ps_per_ns + k_notice_ns, now_ns = executor_.now_ns();
    if (now_ns < due_ns) return static_cast<std::int64_t>(due_ns - now_ns);
    base::write_line(
        "", fmt::format("simulated machine, at {:.6f} s, seed {}: node {} has died, as sim_faults says ({}); "
                        "the job ends, as a launcher would end it; run {:016x}",
                        static_cast<double>(now_ns) * 1e-9, executor_.options().seed, death_.node, describe(death_),
                        executor_.digest()));
    std::fflush(stdout);
    machine::exit_now(base::k_job_failed_status);
  }

  net::sim_executor& executor_;
  const net::sim_fault death_;
  std::unique_ptr<machine::activity_runner> runner_;
};

simulation::simulation(config& c)
    : settings_(adapt(c)),
      faults_(net::faults_of(c.sim.faults, c.nodes, c.sim.seed)),
      began_ns_(base::machine_now_ns()),
      executor_(clock_of(c, faults_)),
      world_(world_of(c, faults_), executor_) {
  c.executor = &executor_;
  const auto death = std::ranges::find(faults_, net::sim_fault::kind::die, &net::sim_fault::what);
  if (death != faults_.end()) deaths_ = std::make_unique<death_watch>(executor_, *death);
}

simulation::~simulation() = default;

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

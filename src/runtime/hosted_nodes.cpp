// SPDX-License-Identifier: Apache-2.0
#include "runtime/hosted_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "base/thrown.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "launch/world.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "net/transports/inproc.hpp"
#include "net/transports/shm.hpp"
#include "remote/code.hpp"
#include "runtime/job.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/placement.hpp"
#include "runtime/service.hpp"
#include "runtime/simulation.hpp"
#include "runtime/transports.hpp"
#include "sched/stack_overflow.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
namespace {

void say_why(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    base::write_line("", describe_failure(e));
  } catch (...) {
    base::write_line("", fmt::format("a node ended with {}", base::sentence_of_thrown()));
  }
}

// The transport between the nodes of a process, and its memory.
struct process_transports {
  std::unique_ptr<net::inproc_world> world;
  std::vector<std::unique_ptr<net::transport>> each;
};

process_transports rings_in_process(const config& c) {
  process_transports t;
  t.world = std::make_unique<net::inproc_world>(ring_shape_of(c, c.nodes));
  for (unsigned n = 0; n < c.nodes; ++n) t.each.push_back(t.world->connect(n));
  return t;
}

process_transports simulated_network(simulation& by, const config& c) {
  process_transports t;
  for (unsigned n = 0; n < c.nodes; ++n) t.each.push_back(by.connect(n));
  return t;
}

// Peers in one process map each other's memory by its address; a descriptor for each of thousands there need not be.
machine::segment make_segment(const config& c, unsigned node, const launch::segment_plan& plan) {
  if (is_simulated(c) && plan.pool_page_bytes == 0) return machine::segment::create_private(plan.bytes);
  return machine::segment::create(fmt::format("shoal-node-{}", node), plan.bytes, false, plan.pool_page_bytes);
}

process_transports networks_in_process(const config& c, std::vector<machine::segment>& segments) {
  std::vector<std::unique_ptr<net::network>> networks;
  std::vector<std::vector<std::byte>> addresses;
  const network_place place{.one_machine = true, .token = new_token()};
  for (unsigned n = 0; n < c.nodes; ++n) {
    networks.push_back(open_network(c, n, c.nodes, segments[n], place));
    addresses.push_back(networks.back()->address());
  }
  for (auto& one : networks) one->connect(addresses);
  base::verbose("{} in this process, over {}", base::counted(c.nodes, "node"), networks.front()->describe());
  process_transports t;
  for (unsigned n = 0; n < c.nodes; ++n)
    t.each.push_back(over_network(c, n, c.nodes, std::move(networks[n]), [](std::uint32_t node, const char* why) {
      base::say("node {} of this process cannot be reached: {}", node, why);
      machine::exit_now(1);
    }));
  return t;
}

class process_nodes final : public hosted_nodes {
public:
  explicit process_nodes(config c);
  ~process_nodes() override { join(); }

  node& first() noexcept override { return *nodes_.front(); }
  void begin() override;
  void end(const std::exception_ptr& thrown) override;

private:
  void join() noexcept {
    for (auto& t : serving_) t->join();
    serving_.clear();
  }
  [[noreturn]] void give_up(const std::exception_ptr& thrown) noexcept;

  config c_;
  std::unique_ptr<simulation> simulated_;
  std::vector<machine::segment> segments_;
  process_transports transports_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::optional<service> watcher_;
  std::vector<std::unique_ptr<machine::executor::thread>> serving_;
  static constexpr std::size_t k_last_memory_bytes = 65536;
  std::unique_ptr<char[]> last_memory_ = std::make_unique<char[]>(k_last_memory_bytes);  // to say that there is no more
  std::atomic_flag gives_up_;
};

process_nodes::process_nodes(config c) : c_(std::move(c)) {
  base::set_log_context({.level = c_.log, .node = c_.nodes > 1 ? 0 : -1});
  if (c_.transport == "shm")
    throw error(errc::invalid_argument,
                "transport shm is for several processes; start them with shoal run -n N, or leave it out");
  constexpr unsigned k_most_real = 64;
  if (c_.nodes > k_most_real && !is_simulated(c_))
    throw error(errc::invalid_argument,
                fmt::format("{} in one process, and {} are the most, since each has threads and much address space; "
                            "SHOAL_TRANSPORT=sim simulates more",
                            base::counted(c_.nodes, "node"), k_most_real));
  sched::explain_stack_overflows();
  if (is_simulated(c_)) simulated_ = std::make_unique<simulation>(c_);
  const auto machine = machine::topology::discover();
  std::vector<node_parts> all_parts(c_.nodes);
  for (unsigned n = 0; n < c_.nodes; ++n) {
    all_parts[n].node = n;
    all_parts[n].nodes = c_.nodes;
    all_parts[n].settings = &c_;
    if (!is_simulated(c_)) place_workers(all_parts[n], c_, machine, {n, c_.nodes});
  }
  const launch::segment_plan plan = launch::plan_segment(c_.pages, c_.segment_bytes, c_.nodes);
  c_.segment_bytes = plan.bytes;

  std::vector<std::byte*> mapped;
  for (unsigned n = 0; n < c_.nodes; ++n) {
    segments_.push_back(make_segment(c_, n, plan));
    mapped.push_back(segments_.back().map());
  }
  if (!is_simulated(c_)) choose_routes(c_, c_.nodes, machine::memory_info().total_bytes / c_.nodes, {c_.nodes});
  transports_ = is_simulated(c_)   ? simulated_network(*simulated_, c_)
                : uses_library(c_) ? networks_in_process(c_, segments_)
                                   : rings_in_process(c_);
  for (unsigned n = 0; n < c_.nodes; ++n) {
    node_parts& parts = all_parts[n];
    parts.transport = with_routes(c_, n, c_.nodes, std::move(transports_.each[n]));
    parts.segment = &segments_[n];
    parts.bases = mapped;
    if (!c_.direct)
      for (unsigned other = 0; other < c_.nodes; ++other)
        if (other != n) parts.bases[other] = nullptr;
    nodes_.push_back(std::make_unique<node>(std::move(parts)));
  }
  std::vector<node*> served;
  for (auto& n : nodes_) served.push_back(n.get());
  if (simulated_) simulated_->watch(served);
  watcher_.emplace(*c_.executor, served);
}

// Some nodes of this process already serve, and no message can stop them: a job needs all its nodes. Where memory has run
// out several give up at once, and there is enough to say it once.
void process_nodes::give_up(const std::exception_ptr& thrown) noexcept {
  while (gives_up_.test_and_set(std::memory_order_relaxed)) c_.executor->yield();
  last_memory_.reset();
  try {
    say_why(thrown);
  } catch (const std::bad_alloc&) {
    std::array<char, 200> line;
    const auto end = fmt::format_to_n(line.data(), line.size(),
                                      "the system refused memory, also to say more (vm.overcommit_memory {}); lower "
                                      "workers or nodes, or raise the limit",
                                      machine::overcommit_mode());
    base::write_line("", {line.data(), std::min(end.size, line.size())});
  }
  machine::exit_now(1);
}

void process_nodes::begin() {
  try {
    for (unsigned n = 1; n < c_.nodes; ++n) {
      if (simulated_) simulated_->enter_node(n);  // for the thread that starts
      serving_.push_back(c_.executor->start_thread(sched::pool::thread_name(static_cast<int>(n), 0), [this, n] {
        base::set_log_context({.level = c_.log, .node = static_cast<int>(n)});
        try {
          nodes_[n]->serve();
        } catch (...) {
          give_up(std::current_exception());
        }
      }));
    }
    if (simulated_) simulated_->enter_node(0);
  } catch (...) {
    if (!serving_.empty()) give_up(std::current_exception());
    throw;
  }
}

void process_nodes::end(const std::exception_ptr& thrown) {
  if (thrown && !first().has_finished() && !serving_.empty()) give_up(thrown);
  join();
  if (thrown) std::rethrow_exception(thrown);
  for (const auto& n : nodes_) n->report_profile();
  if (simulated_) simulated_->report();
}

class world_node final : public hosted_nodes {
public:
  explicit world_node(config c);
  // Its departure is in order from the moment that this node's workers have stopped, also if the main task threw. If
  // its workers did not start, the others must learn of a loss, or they would wait without end.
  ~world_node() override {
    if (here_->has_finished()) world_->leave(me_.node);
  }

  node& first() noexcept override { return *here_; }
  void abandon() noexcept override { world_->leave(me_.node); }
  void end(const std::exception_ptr& thrown) override {
    if (thrown) std::rethrow_exception(thrown);
    here_->report_profile();
  }

private:
  config c_;
  const launch::launched_node me_;
  machine::segment world_memory_;
  std::optional<launch::world> world_;
  std::vector<machine::segment> segments_;
  std::optional<node> here_;
  std::optional<service> watcher_;
};

launch::launched_node take_launched_place() {
  const auto me = launch::launched();
  if (me->taken)
    throw error(errc::unsupported,
                fmt::format("this process has been node {} of its job already: a program that a launcher starts runs "
                            "one job; run both main tasks in one shoal::job, or start a process for each",
                            me->node));
  launch::take_place();
  return *me;
}

world_node::world_node(config c) : c_(std::move(c)), me_(take_launched_place()) {
  base::set_log_context({.level = c_.log, .node = static_cast<int>(me_.node)});
  sched::explain_stack_overflows();
  const auto machine = machine::topology::discover();
  node_parts parts;
  parts.node = me_.node;
  parts.nodes = me_.nodes;
  parts.settings = &c_;
  place_workers(parts, c_, machine, {me_.node, me_.nodes});
  choose_routes(c_, me_.nodes, machine::memory_info().total_bytes / me_.nodes, {me_.nodes});
  world_memory_ = machine::segment::adopt(me_.world_descriptor);
  const auto shape = ring_shape_of(c_, me_.nodes);
  const std::size_t need = launch::k_world_header_bytes + net::ring_layout::bytes(shape);
  if (need > world_memory_.capacity())
    throw error(errc::invalid_argument,
                fmt::format("the buffers between {} of {} take {}, more than the {} there is; lower "
                            "SHOAL_BUFFER, SHOAL_BUFFERS or the workers",
                            base::counted(me_.nodes, "node"), base::counted(c_.workers, "worker"),
                            machine::describe_bytes(need), machine::describe_bytes(world_memory_.capacity())));
  world_.emplace(world_memory_.map(need));
  world_->join({me_.node, me_.nodes, remote::code_fingerprint(), c_.common()}, c_.start_timeout_ns);

  parts.transport = with_routes(c_, me_.node, me_.nodes, net::connect_shm(world_->transport_memory(), shape, me_.node));
  for (std::uint32_t n = 0; n < me_.nodes; ++n) {
    segments_.push_back(machine::segment::adopt(me_.segment_descriptors[n]));
    parts.bases.push_back(n == me_.node || c_.direct ? segments_.back().map() : nullptr);
  }
  parts.segment = &segments_[me_.node];
  for (std::uint32_t n = 0; n < me_.nodes; ++n) parts.processes.push_back(world_->at(n).pid);
  if (me_.node == 0)
    base::verbose("{} of {} on 1 machine, started by shoal run, over shm{}", base::counted(me_.nodes, "node"),
                  base::counted(c_.workers, "worker"), c_.direct ? ": memory mapped" : ": messages only");
  here_.emplace(std::move(parts));
  watcher_.emplace(*c_.executor, std::vector{&*here_}, std::make_unique<world_watch>(*world_, me_.node, me_.nodes),
                   me_.node);
}

}  // namespace

std::unique_ptr<hosted_nodes> host_in_process(config c) { return std::make_unique<process_nodes>(std::move(c)); }

std::unique_ptr<hosted_nodes> host_in_world(config c) { return std::make_unique<world_node>(std::move(c)); }

std::unique_ptr<hosted_nodes> host_job(const config& c) {
  if (launch::launched()) return host_in_world(c);
  if (launch::is_externally_launched()) return host_external(c);
  return host_in_process(c);
}

int run_here(hosted_nodes& nodes, const std::function<int()>& main_task) {
  int status = 0;
  std::exception_ptr thrown;
  nodes.begin();
  try {
    if (nodes.first().number() == 0)
      status = nodes.first().run_main(main_task);
    else
      nodes.first().serve();
  } catch (...) {
    thrown = std::current_exception();
  }
  nodes.end(thrown);
  return status;
}

}  // namespace shoal::runtime

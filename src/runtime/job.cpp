// SPDX-License-Identifier: Apache-2.0
#include "runtime/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <vector>

#include "base/log.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "launch/world.hpp"
#include "machine/memory_info.hpp"
#include "machine/process.hpp"
#include "machine/topology.hpp"
#include "net/transports/inproc.hpp"
#include "net/transports/shm.hpp"
#include "remote/code.hpp"
#include "runtime/node.hpp"
#include "runtime/peer_watch.hpp"
#include "runtime/placement.hpp"
#include "runtime/service.hpp"
#include "runtime/transports.hpp"
#include "sched/stack_overflow.hpp"
#include "shoal/error.hpp"
#include "shoal/run.hpp"

namespace shoal::runtime {
namespace {

net::ring_shape shape_of(const config& c, unsigned nodes) {
  return {nodes, c.workers, c.buffer_bytes, c.buffers, c.executor};
}

// Some nodes of this process serve already, and nobody can tell them to stop: a job needs all its nodes.
[[noreturn]] void give_up(const std::exception& e) noexcept {
  base::write_line("", describe_failure(e));
  machine::exit_now(1);
}

}  // namespace

std::string describe_failure(const std::exception& e) {
  // Threads that the system refuses come as bare words of the C library.
  const auto* refused = dynamic_cast<const std::system_error*>(&e);
  if (refused == nullptr || refused->code() != std::errc::resource_unavailable_try_again) return e.what();
  return fmt::format("the system refused to start a thread ({}); check ulimit -u; {}", e.what(),
                     machine::describe_address_space_limits());
}

namespace {

// What the nodes of a process talk through, and the memory that it lies in.
struct process_transports {
  std::unique_ptr<net::inproc_world> world;
  std::vector<std::unique_ptr<net::transport>> each;
};

process_transports rings_in_process(const config& c) {
  process_transports t;
  t.world = std::make_unique<net::inproc_world>(shape_of(c, c.nodes));
  for (unsigned n = 0; n < c.nodes; ++n) t.each.push_back(t.world->connect(n));
  return t;
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
  base::verbose("{} nodes in this process, over {}", c.nodes, networks.front()->describe());
  process_transports t;
  for (unsigned n = 0; n < c.nodes; ++n)
    t.each.push_back(over_network(c, n, c.nodes, std::move(networks[n]), [](std::uint32_t node, const char* why) {
      base::say("node {} of this process cannot be reached: {}", node, why);
      machine::exit_now(1);
    }));
  return t;
}

}  // namespace

int run_in_process(config c, const std::function<int()>& main_task) {
  base::set_log_context({.level = c.log, .node = c.nodes > 1 ? 0 : -1});
  if (c.transport == "shm")
    throw error(errc::invalid_argument,
                "transport shm is for several processes; start them with shoal run -n N, or leave it out");
  sched::explain_stack_overflows();
  const auto machine = machine::topology::discover();
  std::vector<node_parts> all_parts(c.nodes);
  for (unsigned n = 0; n < c.nodes; ++n) {
    all_parts[n].node = n;
    all_parts[n].nodes = c.nodes;
    all_parts[n].settings = &c;
    place_workers(all_parts[n], c, machine, {n, c.nodes});
  }
  if (c.segment_bytes == 0) c.segment_bytes = launch::default_segment_bytes(c.nodes);

  std::vector<machine::segment> segments;
  std::vector<std::byte*> mapped;
  for (unsigned n = 0; n < c.nodes; ++n) {
    segments.push_back(machine::segment::create(fmt::format("shoal-node-{}", n), c.segment_bytes));
    mapped.push_back(segments.back().map());
  }
  auto transports = uses_library(c) ? networks_in_process(c, segments) : rings_in_process(c);
  std::vector<std::unique_ptr<node>> nodes;
  for (unsigned n = 0; n < c.nodes; ++n) {
    node_parts& parts = all_parts[n];
    parts.transport = std::move(transports.each[n]);
    parts.segment = &segments[n];
    parts.bases = mapped;
    if (!c.direct)
      for (unsigned other = 0; other < c.nodes; ++other)
        if (other != n) parts.bases[other] = nullptr;
    nodes.push_back(std::make_unique<node>(std::move(parts)));
  }
  std::vector<node*> served;
  for (auto& n : nodes) served.push_back(n.get());
  const service watcher(*c.executor, served);
  std::vector<std::unique_ptr<machine::executor::thread>> others;
  std::exception_ptr thrown;
  int status = 0;
  try {
    for (unsigned n = 1; n < c.nodes; ++n)
      others.push_back(c.executor->start_thread(fmt::format("shoal-{}-w0", n), [&nodes, &c, n] {
        base::set_log_context({.level = c.log, .node = static_cast<int>(n)});
        try {
          nodes[n]->serve();
        } catch (const std::exception& e) {
          give_up(e);
        }
      }));
    status = nodes[0]->run_main(main_task);
  } catch (const std::exception& e) {
    if (!nodes[0]->has_finished() && !others.empty()) give_up(e);
    thrown = std::current_exception();
  } catch (...) {
    thrown = std::current_exception();
  }
  for (auto& t : others) t->join();
  if (thrown) std::rethrow_exception(thrown);
  for (const auto& n : nodes) n->report_profile();
  return status;
}

int run_in_world(config c, const std::function<int()>& main_task) {
  const auto me = *launch::launched();
  if (me.taken)
    throw error(errc::unsupported,
                fmt::format("this process has been node {} of its job already: a program that a launcher starts calls "
                            "shoal::run once; put both parts into one main task, or start a job for each",
                            me.node));
  launch::take_place();
  base::set_log_context({.level = c.log, .node = static_cast<int>(me.node)});
  sched::explain_stack_overflows();
  const auto machine = machine::topology::discover();
  node_parts parts;
  parts.node = me.node;
  parts.nodes = me.nodes;
  parts.settings = &c;
  place_workers(parts, c, machine, {me.node, me.nodes});
  auto world_memory = machine::segment::adopt(me.world_descriptor);
  const auto shape = shape_of(c, me.nodes);
  const std::size_t need = launch::k_world_header_bytes + net::ring_layout::bytes(shape);
  if (need > world_memory.capacity())
    throw error(errc::invalid_argument,
                fmt::format("the buffers between {} nodes of {} workers take {}, more than the {} there is; lower "
                            "SHOAL_BUFFER, SHOAL_BUFFERS or the workers",
                            me.nodes, c.workers, machine::describe_bytes(need),
                            machine::describe_bytes(world_memory.capacity())));
  launch::world world(world_memory.map(need));
  world.join({me.node, me.nodes, remote::code_fingerprint(), c.common()}, c.start_timeout_ns);

  std::vector<machine::segment> segments;
  parts.transport = net::connect_shm(world.transport_memory(), shape, me.node);
  for (std::uint32_t n = 0; n < me.nodes; ++n) {
    segments.push_back(machine::segment::adopt(me.segment_descriptors[n]));
    parts.bases.push_back(n == me.node || c.direct ? segments.back().map() : nullptr);
  }
  parts.segment = &segments[me.node];
  if (me.node == 0)
    base::verbose("{} nodes of {} workers on 1 machine, started by shoal run, over shm{}", me.nodes, c.workers,
                  c.direct ? ": memory mapped" : ": messages only");
  node here(std::move(parts));
  const service watcher(*c.executor, {&here}, std::make_unique<world_watch>(world, me.node, me.nodes), me.node);
  // From the moment that this node's workers have stopped, also if the main task threw, its end is as it should be. If
  // its workers did not start, it is not: the others would wait for ever.
  struct departure {
    launch::world& from;
    std::uint32_t number;
    const node& leaving;
    ~departure() {
      if (leaving.has_finished()) from.leave(number);
    }
  } const on_time{world, me.node, here};
  int status = 0;
  if (me.node == 0)
    status = here.run_main(main_task);
  else
    here.serve();
  here.report_profile();
  return status;
}

bool is_launched() { return launch::launched() || launch::is_externally_launched(); }

int run_job(const config& c, const std::function<int()>& main_task) {
  if (launch::launched()) return run_in_world(c, main_task);
  if (launch::is_externally_launched()) return run_external(c, main_task);
  return run_in_process(c, main_task);
}

}  // namespace shoal::runtime

namespace shoal::detail {
namespace {

constexpr const char* k_prefix = "--shoal-";

// Takes --shoal-NAME=VALUE out of the command line.
void take_arguments(base::settings& s, int* argc, char** argv) {
  int kept = 0;
  for (int i = 0; i < *argc; ++i) {
    const std::string text = argv[i];
    const auto equals = text.find('=');
    if (i == 0 || text.rfind(k_prefix, 0) != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    if (equals == std::string::npos)
      throw error(
          errc::invalid_argument,
          fmt::format("{} has no value; write for instance --shoal-workers=2 (`shoal info` lists the settings)", text));
    std::string name = text.substr(std::strlen(k_prefix), equals - std::strlen(k_prefix));
    std::replace(name.begin(), name.end(), '-', '_');
    s.set(name, text.substr(equals + 1), base::setting_origin::command_line);
  }
  *argc = kept;
}

}  // namespace

int run(int* argc, char** argv, const run_options& options, const std::function<int()>& main_task) {
  try {
    auto s = runtime::all_settings();
    take_arguments(s, argc, argv);
    for (const auto& [name, value] : options.settings) s.set(name, value);
    s.check();
    const auto c = runtime::read_config(s);
    return runtime::run_job(c, main_task);
  } catch (const std::exception& e) {
    base::write_line("", runtime::describe_failure(e));
  } catch (...) {
    base::write_line("", "the main task ended with an exception that is no std::exception");
  }
  return 1;
}

}  // namespace shoal::detail

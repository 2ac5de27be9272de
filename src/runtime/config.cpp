// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/log.hpp"
#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "launch/rendezvous.hpp"
#include "machine/topology.hpp"
#include "sched/steal_policies.hpp"
#include "shoal/error.hpp"

extern char** environ;  // POSIX

namespace shoal::runtime {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_runtime[] = {
    {.name = "nodes",
     .type = setting_type::integer,
     .default_value = "1",
     .help = "nodes in this process (transport inproc; under a launcher it says)",
     .min = "1",
     .max = "64"},
    {.name = "workers",
     .type = setting_type::integer,
     .default_value = "0",
     .help = "threads per node that run tasks; 0: the machine's processors divided by its nodes",
     .min = "0",
     .max = "1024"},
    {.name = "pin", .type = setting_type::boolean, .default_value = "on", .help = "pin workers to processors"},
    {.name = "direct",
     .type = setting_type::boolean,
     .default_value = "on",
     .help = "nodes of one machine access each other's memory directly; off: everything by messages"},
    {.name = "start_seconds",
     .type = setting_type::integer,
     .default_value = "30",
     .help = "how long a node waits for the others at start",
     .min = "1",
     .max = "3600"},
    {.name = "silence_seconds",
     .type = setting_type::real,
     .default_value = "30",
     .help = "a node of which nothing is heard for so long (stopped, cut off) is lost, where nodes are found by the "
             "network; 0: never",
     .min = "0",
     .max = "86400"},
    {.name = "hub_address",
     .type = setting_type::text,
     .default_value = "",
     .help = "the address of this machine that the others' first connections go to; empty: found by the host's name"},
};
constexpr setting k_fiber[] = {
    {.name = "stack",
     .type = setting_type::size,
     .default_value = "64K",
     .help = "address space of a task's stack",
     .min = "16K",
     .max = "64M"},
    {.name = "stacks",
     .type = setting_type::size,
     .default_value = "2M",
     .help = "stacks per node, that is, tasks that can wait at once",
     .min = "64",
     .max = "64M"},
};
constexpr setting k_sched[] = {
    {.name = "waiting_memory",
     .type = setting_type::size,
     .default_value = "0",
     .help = "memory that waiting iterations may take before new ones are held back; 0: a quarter of what is free",
     .min = "0"},
    {.name = "spin",
     .type = setting_type::integer,
     .default_value = "40",
     .help = "looks around of a worker with nothing to do before it sleeps",
     .min = "0",
     .max = "1000000"},
    {.name = "steal",
     .type = setting_type::text,
     .default_value = sched::k_standard_steal_policy,
     .help = "whom a worker without work tries to steal from: a victim policy by name, with arguments in parentheses"},
    {.name = "topology",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "the machine that victim policies see, in hwloc's synthetic form; empty: this one, where workers are pinned"},
};
constexpr setting k_trace[] = {
    {.name = "profile",
     .type = setting_type::boolean,
     .default_value = "off",
     .help = "at the end each node prints where the time of its workers went, to standard error"},
    {.name = "profile_json",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "the profile as a JSON object, in this file; of several nodes with .0, .1, ... before the last dot; implies "
         "profile"},
    {.name = "profile_picture",
     .type = setting_type::text,
     .default_value = "",
     .help = "the profile as a drawing (SVG), in this file; named as profile_json is; implies profile"},
    {.name = "profile_interval_ms",
     .type = setting_type::real,
     .default_value = "5",
     .help = "how often a profile looks at what runs; 0: never",
     .min = "0",
     .max = "60000"},
    {.name = "profile_serial_seconds",
     .type = setting_type::real,
     .default_value = "0",
     .help =
         "what the same work takes without tasks, measured before: what tasks take longer is shown as inflation (one "
         "node); 0: not known",
     .min = "0"},
};
constexpr setting k_net[] = {
    {.name = "buffer",
     .type = setting_type::size,
     .default_value = "16K",
     .help = "bytes of an aggregation buffer",
     .min = "16K",
     .max = "1M"},
    {.name = "buffers",
     .type = setting_type::integer,
     .default_value = "8",
     .help = "buffers under way from a worker to a node, rounded up to a power of two",
     .min = "2",
     .max = "256"},
};
constexpr setting k_transport[] = {
    {.name = "transport",
     .type = setting_type::choice,
     .default_value = "auto",
     .help = "how buffers travel between nodes: shm, ucx, mpi, inproc (nodes in one process); auto: what the launcher "
             "and the machine offer",
     .choices = "auto|inproc|shm|ucx|mpi"},
    {.name = "plugins",
     .type = setting_type::text,
     .default_value = "",
     .help = "a folder with transports, looked at before those beside the program and where Shoal is installed"},
    {.name = "domains",
     .type = setting_type::integer,
     .default_value = "0",
     .help =
         "endpoints per node (ucx, mpi); fewer than workers: they share them through a lock; 0: one for each worker",
     .min = "0",
     .max = "1024"},
    {.name = "domain_lock",
     .type = setting_type::text,
     .default_value = "bounded",
     .help = "the kind of lock in front of a domain"},
    {.name = "domain_wait",
     .type = setting_type::choice,
     .default_value = "adaptive",
     .help = "how to wait for a domain's lock: spin, yield, park, adaptive",
     .choices = "spin|yield|park|adaptive"},
    {.name = "messages",
     .type = setting_type::choice,
     .default_value = "own",
     .help = "own: commands reach a worker through its own domain; domain_0: all through one, as processes are "
             "addressed",
     .choices = "own|domain_0"},
    {.name = "progress",
     .type = setting_type::choice,
     .default_value = "workers",
     .help = "who moves messages (ucx, mpi): each worker its own, or a thread of the node for all",
     .choices = "workers|server"},
    {.name = "helpers",
     .type = setting_type::integer,
     .default_value = "0",
     .help = "threads per node that only execute commands on its memory, for workers that compute for long",
     .min = "0",
     .max = "64"},
    {.name = "poll_mask",
     .type = setting_type::integer,
     .default_value = "7",
     .help = "with messages=domain_0 workers of other domains look at it every mask + 1 polls; a power of two less 1",
     .min = "0",
     .max = "65535"},
    {.name = "one_sided",
     .type = setting_type::size,
     .default_value = "32K",
     .help = "copies of so many bytes and more go straight from memory to memory, where the network library can",
     .min = "1"},
    {.name = "network_memory",
     .type = setting_type::boolean,
     .default_value = "off",
     .help =
         "UCX allocates the nodes' memory, all of segment at once: on one machine it reaches no other without help"},
    {.name = "own_communicators",
     .type = setting_type::boolean,
     .default_value = "off",
     .help = "each domain has a communicator of its own (mpi)"},
    {.name = "shared_context",
     .type = setting_type::boolean,
     .default_value = "off",
     .help = "the domains of a node share one context of the network library (ucx)"},
};
constexpr setting k_array[] = {
    {.name = "segment",
     .type = setting_type::size,
     .default_value = "0",
     .help = "address space of a node's part of the global memory; 0: as much as the machine has memory",
     .min = "0",
     .max = "8T"},
    {.name = "huge_pages",
     .type = setting_type::boolean,
     .default_value = "on",
     .help = "global memory on 2 MiB pages where the system gives them"},
};

}  // namespace

base::settings all_settings() {
  base::settings s;
  s.add(base::k_log_settings);
  s.add({"runtime", k_runtime});
  s.add({"fiber", k_fiber});
  s.add({"sched", k_sched});
  s.add({"trace", k_trace});
  s.add({"net", k_net});
  s.add({"transport", k_transport});
  s.add({"array", k_array});
  s.accept_variable(launch::k_launch_variable);
  s.accept_variable(launch::k_hub_variable);
  s.accept_variable(launch::k_taken_variable);
  s.read_environment(environ);
  s.read_configuration();
  return s;
}

namespace {

// Lets `use` judge a text, and says which setting it is if that throws.
template <class Use>
auto judged(const base::settings& s, std::string_view name, Use use) {
  try {
    return use(s.get_text(name));
  } catch (const error& e) {
    for (const base::setting_entry& one : s.list())
      if (one.declaration->name == name)
        throw error(e.code(), fmt::format("the setting {} (from {}): {}", name, one.origin_text, e.what()));
    throw;
  }
}

}  // namespace

config read_config(const base::settings& s) {
  config c;
  c.nodes = static_cast<std::uint32_t>(s.get_int("nodes"));
  c.workers = static_cast<unsigned>(s.get_int("workers"));
  c.log = base::log_level_of(s.get_text("log"));
  c.pin = s.get_bool("pin");
  c.direct = s.get_bool("direct");
  c.start_timeout_ns = s.get_int("start_seconds") * 1'000'000'000;
  c.stack_bytes = s.get_size("stack");
  c.most_stacks = s.get_size("stacks");
  c.waiting_bytes = s.get_size("waiting_memory");
  c.spin = static_cast<unsigned>(s.get_int("spin"));
  c.steal = judged(s, "steal", sched::find_steal_policy);
  c.topology = judged(s, "topology", [](std::string text) {
    if (!text.empty()) static_cast<void>(machine::topology::synthetic(text));
    return text;
  });
  c.profiling.json = s.get_text("profile_json");
  c.profiling.picture = s.get_text("profile_picture");
  c.profiling.on = s.get_bool("profile") || !c.profiling.json.empty() || !c.profiling.picture.empty();
  c.profiling.interval_seconds = s.get_real("profile_interval_ms") * 1e-3;
  c.profiling.serial_seconds = s.get_real("profile_serial_seconds");
  c.transport = s.get_text("transport");
  c.plugins = s.get_text("plugins");
  c.domains = static_cast<unsigned>(s.get_int("domains"));
  c.domain_lock = judged(s, "domain_lock", [](std::string text) {
    make_lock(text);  // says which there are
    return text;
  });
  c.domain_wait = parse_wait_kind(s.get_text("domain_wait"));
  c.messages = s.get_text("messages") == "own" ? net::message_route::own : net::message_route::domain_0;
  c.progress = s.get_text("progress") == "server" ? net::progress_role::server : net::progress_role::workers;
  c.poll_mask = static_cast<std::uint32_t>(s.get_int("poll_mask"));
  if (std::popcount(c.poll_mask + 1) != 1)
    throw error(errc::invalid_argument,
                fmt::format("poll_mask {} is not a power of two less 1: 0, 1, 3, 7 ...", c.poll_mask));
  c.helpers = static_cast<unsigned>(s.get_int("helpers"));
  c.one_sided_bytes = s.get_size("one_sided");
  c.network_memory = s.get_bool("network_memory");
  c.own_communicators = s.get_bool("own_communicators");
  c.shared_context = s.get_bool("shared_context");
  c.silence_ns = static_cast<std::int64_t>(s.get_real("silence_seconds") * 1e9);
  c.hub_address = s.get_text("hub_address");
  c.buffer_bytes = s.get_size("buffer") / 64 * 64;
  c.buffers = std::bit_ceil(static_cast<std::size_t>(s.get_int("buffers")));
  c.segment_bytes = s.get_size("segment");
  c.huge_pages = s.get_bool("huge_pages");
  return c;
}

sched::pool_options scheduler_options(const config& c) {
  sched::pool_options o;
  o.workers = c.workers;
  o.stack_bytes = c.stack_bytes;
  o.most_stacks = c.most_stacks;
  o.most_waiting_bytes = c.waiting_bytes;
  o.steal = c.steal;
  o.spin_rounds = c.spin;
  o.executor = c.executor;
  return o;
}

std::string config::common() const {
  std::string text = fmt::format("workers {}, direct {}, buffer {}, buffers {}", workers, direct ? "on" : "off",
                                 buffer_bytes, buffers);
  text += fmt::format(", transport {}, domains {}, messages {}, own_communicators {}", transport, domains,
                      messages == net::message_route::own ? "own" : "domain_0", own_communicators ? "on" : "off");
  return text;
}

}  // namespace shoal::runtime

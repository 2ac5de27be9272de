// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/log.hpp"
#include "launch/local_launch.hpp"
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
  s.add({"array", k_array});
  s.accept_variable(launch::k_launch_variable);
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
  return o;
}

std::string config::common() const {
  return fmt::format("workers {}, direct {}, buffer {}, buffers {}", workers, direct ? "on" : "off", buffer_bytes,
                     buffers);
}

}  // namespace shoal::runtime

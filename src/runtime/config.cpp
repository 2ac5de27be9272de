// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/injected_noise.hpp"
#include "runtime/tuned_file.hpp"

extern char** environ;  // POSIX

namespace shoal::runtime {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_job_table[] = {
    {.name = "nodes",
     .type = setting_type::integer,
     .default_value = "1",
     .help = "nodes in this process: at most 64 (transport inproc), or simulated (sim); under a launcher it says",
     .min = "1",
     .max = "65536"},
    {.name = "workers",
     .type = setting_type::integer,
     .default_value = "0",
     .help = "threads per node that run tasks; 0: the machine's processors divided by its nodes",
     .min = "0",
     .max = "1024"},
    {.name = "pin", .type = setting_type::boolean, .default_value = "on", .help = "pin workers to processors"},
    {.name = "restart",
     .type = setting_type::boolean,
     .default_value = "off",
     .help = "programs go on from their newest checkpoints (shoal run --restart)"},
    {.name = "direct",
     .type = setting_type::boolean,
     .default_value = "on",
     .help = "nodes of one machine access each other's memory directly; off: everything by messages"},
    {.name = "hang_seconds",
     .type = setting_type::real,
     .default_value = "10",
     .help = "after so long without anything that can run, and with a promise, lock or handle that another thread may "
             "use, what each task waits for is reported once; 0: never",
     .min = "0",
     .max = "86400"},
};
const base::setting_table k_runtime_settings{"runtime", k_job_table};

}  // namespace

base::settings all_settings() {
  base::settings s;
  s.add(base::k_log_settings);
  s.add(k_runtime_settings);
  s.add(launch::k_launch_settings);
  s.add(fiber::k_fiber_settings);
  s.add(sched::k_sched_settings);
  s.add(k_profile_settings);
  s.add(k_trace_settings);
  s.add(k_injection_settings);
  for (const base::setting_table& table : net::k_net_settings) s.add(table);
  s.add(remote::k_remote_settings);
  s.add(array::k_array_settings);
  s.add(collectives::k_collectives_settings);
  for (const std::string_view variable : launch::k_launcher_variables) s.accept_variable(variable);
  s.accept_variable("SHOAL_TUNED");
  s.read_environment(environ);
  const std::string tuned = tuned_file();
  if (std::error_code ignored; !tuned.empty() && std::filesystem::is_regular_file(tuned, ignored))
    s.read_tuned_file(tuned);
  s.read_configuration();
  return s;
}

config read_config(const base::settings& s) {
  return {fiber::read_options(s),
          sched::read_options(s),
          launch::read_options(s),
          net::read_options(s),
          remote::read_options(s),
          array::read_options(s),
          collectives::read_options(s),
          static_cast<std::uint32_t>(s.get_int("nodes")),
          static_cast<unsigned>(s.get_int("workers")),
          s.get_bool("direct"),
          s.get_bool("pin") && !(s.get_bool("share_processors") && s.origin("pin") == base::setting_origin::standard),
          s.get_bool("restart"),
          static_cast<std::int64_t>(s.get_real("hang_seconds") * 1e9),
          base::log_level_of(s.get_text("log")),
          read_profile_wish(s),
          read_injection(s)};
}

sched::pool_options scheduler_options(const config& c, std::uint32_t node) {
  sched::pool_options o = sched::make_pool_options(c, c);
  o.workers = c.workers;
  o.executor = c.executor;
  o.heavy_fences = c.executor->has_real_clock();  // else all threads are one
  if (c.injection != nullptr) o.around_thread = around_injected_threads(c.injection, node, *c.executor);
  return o;
}

std::string config::common() const {
  std::string text = fmt::format("workers {}, direct {}, buffer {}, buffers {}, one_sided {}, call_memory {}", workers,
                                 direct ? "on" : "off", buffer_bytes, buffers, one_sided_bytes, call_memory);
  text += fmt::format(", transport {}, domains {}, messages {}, own_communicators {}", transport, domains,
                      messages == net::message_route::own ? "own" : "domain_0", own_communicators ? "on" : "off");
  text +=
      fmt::format(", route {}, aggregation_memory {}, block {}", routes.route, routes.memory_bytes, routes.block_bytes);
  text += fmt::format(", pages {}", to_string(pages));
  text += ", collectives " + algorithms.text();
  return text;
}

}  // namespace shoal::runtime

// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/setting_value.hpp"
#include "shoal/error.hpp"

namespace shoal::net {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_sim_table[] = {
    {.name = "sim_network",
     .type = setting_type::choice,
     .default_value = "infiniband",
     .help = "transport sim: the network, whose figures the settings below change",
     .choices = "infiniband|slingshot|ethernet"},
    {.name = "sim_topology",
     .type = setting_type::choice,
     .default_value = "own",
     .help = "transport sim: how nodes are connected; own: the network's",
     .choices = "own|flat|fat_tree|torus"},
    {.name = "sim_latency",
     .type = setting_type::real,
     .default_value = "-1",
     .help = "transport sim: nanoseconds from network card to network card; -1: the network's",
     .min = "-1",
     .max = "1000000000"},
    {.name = "sim_hop",
     .type = setting_type::real,
     .default_value = "-1",
     .help = "transport sim: nanoseconds more for each switch after the first; -1: the network's",
     .min = "-1",
     .max = "1000000000"},
    {.name = "sim_bandwidth",
     .type = setting_type::real,
     .default_value = "0",
     .help = "transport sim: Gbit/s of network cards and links; 0: the network's",
     .min = "0",
     .max = "100000"},
    {.name = "sim_gap",
     .type = setting_type::real,
     .default_value = "-1",
     .help = "transport sim: nanoseconds of a network card between two messages, at least; -1: the network's",
     .min = "-1",
     .max = "1000000000"},
    {.name = "sim_taper",
     .type = setting_type::integer,
     .default_value = "0",
     .help = "transport sim: nodes of a leaf switch (fat_tree) per link upwards; 0: the network's",
     .min = "0",
     .max = "1000"},
    {.name = "sim_compute",
     .type = setting_type::choice,
     .default_value = "table",
     .help = "transport sim: what advances processors' clocks: the table sim_costs, or measured time of this machine",
     .choices = "table|measured"},
    {.name = "sim_costs",
     .type = setting_type::text,
     .default_value = "",
     .help = "transport sim: changes of the table of costs, NAME=TIME joined by commas: turn, iteration, poll, send, "
             "receive, write, execute, copy, block, clock, yield, wait, wake, wake_delay"},
    {.name = "sim_factor",
     .type = setting_type::real,
     .default_value = "1",
     .help = "transport sim: simulated time for one unit of measured time",
     .min = "0.000001",
     .max = "1000000"},
    {.name = "sim_jitter",
     .type = setting_type::real,
     .default_value = "0",
     .help = "transport sim: latencies and wake-ups take at random at most so much longer, as a part of them",
     .min = "0",
     .max = "1000"},
    {.name = "sim_faults",
     .type = setting_type::text,
     .default_value = "",
     .help = "transport sim: what fails, joined by +: stop(NODE,AT,FOR), die(NODE,AT), slow(A-B,FACTOR,AT,FOR), "
             "cut(A-B,AT,FOR), random(COUNT,WITHIN)"},
    {.name = "sim_seed",
     .type = setting_type::integer,
     .default_value = "1",
     .help = "transport sim: of all that is random; the same seed gives the same run",
     .min = "0",
     .max = "1000000000000000000"},
    {.name = "sim_stack",
     .type = setting_type::size,
     .default_value = "1M",
     .help = "transport sim: address space of the stack of a worker",
     .min = "128K",
     .max = "1G"},
};

struct named_cost {
  std::string_view name;
  std::uint64_t sim_costs::*at;
};
constexpr named_cost k_costs[] = {
    {"turn", &sim_costs::turn_ps},       {"iteration", &sim_costs::iteration_ps},
    {"poll", &sim_costs::poll_ps},       {"send", &sim_costs::send_ps},
    {"receive", &sim_costs::receive_ps}, {"write", &sim_costs::write_ps},
    {"execute", &sim_costs::execute_ps}, {"copy", &sim_costs::copy_ps},
    {"block", &sim_costs::block_ps},     {"clock", &sim_costs::clock_ps},
    {"yield", &sim_costs::yield_ps},     {"wait", &sim_costs::wait_ps},
    {"wake", &sim_costs::wake_ps},       {"wake_delay", &sim_costs::wake_delay_ps},
};

std::uint64_t ps_of_ns(double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1e3)); }

[[noreturn]] void refuse_costs(std::string_view part, std::string_view why) {
  std::string names;
  for (const named_cost& c : k_costs) names += fmt::format("{}{}", names.empty() ? "" : ", ", c.name);
  throw error(errc::invalid_argument,
              fmt::format("sim_costs: '{}': {}; parts are NAME=TIME joined by commas, as in iteration=20,send=0.3us, "
                          "with a NAME of {}",
                          part, why, names));
}

std::uint64_t cost_of(std::string_view text, std::string_view part) {
  const std::optional<double> ns = base::parse_time_ns(text);
  if (!ns) refuse_costs(part, "this is no time");
  constexpr double k_most_ns = 1e9;
  if (*ns > k_most_ns) refuse_costs(part, "a time is between 0 and 1 s");
  return ps_of_ns(*ns);
}

}  // namespace

const base::setting_table k_sim_settings{"net/transports/sim", k_sim_table};

sim_costs parse_sim_costs(std::string_view text) {
  sim_costs costs;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) refuse_costs(part, "there is no =");
    const auto* const found = std::ranges::find(k_costs, part.substr(0, equals), &named_cost::name);
    if (found == std::end(k_costs)) refuse_costs(part, "no such event");
    costs.*found->at = cost_of(part.substr(equals + 1), part);
  }
  if (costs.yield_ps == 0 || costs.clock_ps == 0)
    refuse_costs("", "clock and yield must take time, or a loop that waits would not end");
  return costs;
}

sim_options read_sim_options(const base::settings& s) {
  sim_options o;
  o.network = *find_sim_network(s.get_text("sim_network"));
  const std::string topology = s.get_text("sim_topology");
  if (topology == "flat") o.network.topology = sim_topology::flat;
  if (topology == "fat_tree") o.network.topology = sim_topology::fat_tree;
  if (topology == "torus") o.network.topology = sim_topology::torus;
  if (const double ns = s.get_real("sim_latency"); ns >= 0) o.network.latency_ps = ps_of_ns(ns);
  if (const double ns = s.get_real("sim_hop"); ns >= 0) o.network.hop_ps = ps_of_ns(ns);
  if (const double ns = s.get_real("sim_gap"); ns >= 0) o.network.message_gap_ps = ps_of_ns(ns);
  if (const double gbit = s.get_real("sim_bandwidth"); gbit > 0) o.network.byte_ps = ps_of_ns(8 / gbit);
  if (const auto taper = s.get_int("sim_taper"); taper > 0) o.network.taper = static_cast<unsigned>(taper);
  o.jitter = o.network.jitter = s.get_real("sim_jitter");
  o.measured_factor = s.get_text("sim_compute") == "measured" ? s.get_real("sim_factor") : 0;
  o.costs = s.judge_text("sim_costs", [](const std::string& text) { return parse_sim_costs(text); });
  o.faults = s.judge_text("sim_faults", [](const std::string& text) { return parse_sim_faults(text); });
  o.seed = static_cast<std::uint64_t>(s.get_int("sim_seed"));
  o.stack_bytes = s.get_size("sim_stack");
  return o;
}

}  // namespace shoal::net

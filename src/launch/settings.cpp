// SPDX-License-Identifier: Apache-2.0
#include "launch/settings.hpp"

#include "launch/launcher_signs.hpp"
#include "launch/local_launch.hpp"
#include "launch/rendezvous.hpp"

namespace shoal::launch {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_table[] = {
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

}  // namespace

const base::setting_table k_launch_settings{"launch", k_table};
const std::array<std::string_view, 4> k_launcher_variables{k_launch_variable, k_hub_variable, k_taken_variable,
                                                           k_warned_variable};

options read_options(const base::settings& s) {
  options o;
  o.start_timeout_ns = s.get_int("start_seconds") * 1'000'000'000;
  o.silence_ns = static_cast<std::int64_t>(s.get_real("silence_seconds") * 1e9);
  o.hub_address = s.get_text("hub_address");
  return o;
}

}  // namespace shoal::launch

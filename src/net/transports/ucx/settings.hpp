// SPDX-License-Identifier: Apache-2.0
// The settings of the transport ucx. The core includes this table, so that the names are known, checked and listed where
// the plugin or its library is absent. The values reach the plugin in network_request (net/wire.hpp).
// Who may call: it is constant data. Shown by tests/unit/net/settings_test.cpp.
#pragma once

#include "base/setting_table.hpp"

namespace shoal::net::ucx {

inline constexpr base::setting k_table[] = {
    {.name = "network_memory",
     .type = base::setting_type::boolean,
     .default_value = "off",
     .help =
         "UCX allocates the nodes' memory, all of segment at once: on one machine it reaches no other without help"},
    {.name = "shared_context",
     .type = base::setting_type::boolean,
     .default_value = "off",
     .help = "the domains of a node share one context of the network library (ucx)"},
    {.name = "tcp_transfers",
     .type = base::setting_type::boolean,
     .default_value = "off",
     .help = "copies by UCX itself also where it may use TCP: whoever reaches its ports can then write to any address"},
};
inline constexpr base::setting_table k_ucx_settings{"net/transports/ucx", k_table};

}  // namespace shoal::net::ucx

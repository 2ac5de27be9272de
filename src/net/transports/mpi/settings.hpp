// SPDX-License-Identifier: Apache-2.0
// The settings of the transport mpi. The core includes this table, so that the names are known, checked and listed where
// the plugin or its library is absent. The values reach the plugin in network_request (net/wire.hpp).
// Who may call: it is constant data. Shown by tests/unit/net/settings_test.cpp.
#pragma once

#include "base/setting_table.hpp"

namespace shoal::net::mpi {

inline constexpr base::setting k_table[] = {
    {.name = "own_communicators",
     .type = base::setting_type::boolean,
     .default_value = "off",
     .help = "each domain has a communicator of its own (mpi)"},
};
inline constexpr base::setting_table k_mpi_settings{"net/transports/mpi", k_table};

}  // namespace shoal::net::mpi

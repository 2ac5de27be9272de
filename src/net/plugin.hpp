// SPDX-License-Identifier: Apache-2.0
// Network libraries come as plugins, so that Shoal runs where there is none: this finds their files and loads them.
// Who may call: the thread that makes the job, before other threads look at the environment (UCX is told there to leave
// signals alone). Never switches tasks. Guarantees: a plugin of another Shoal is refused; what is missing is said in a
// sentence that names what to install. Plugins stay loaded until the process ends; of MPI libraries a process has one.
// Shown by tests/unit/net/plugin_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/library.hpp"
#include "net/wire.hpp"

namespace shoal::net {

using machine::plugin_folders;

/// `name`: "ucx"; "mpi", which is mpi_of_launcher() or else the first that is there; "mpi_openmpi", "mpi_mpich".
/// Throws shoal::error.
const net_plugin& load_plugin(std::string_view name, std::span<const std::string> folders);
/// Whether there is a file for it; it may still not load.
bool has_plugin(std::string_view name, std::span<const std::string> folders);

/// "openmpi", "mpich": whose launcher started this process, as its environment shows; "": none that is known.
std::string_view mpi_of_launcher() noexcept;

}  // namespace shoal::net

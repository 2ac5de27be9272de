// SPDX-License-Identifier: Apache-2.0
// Network libraries are loaded as plugins, so Shoal runs without them: finds the files of the plugins and loads them.
// Who may call: the thread that makes the job, before other threads read the environment (it tells UCX there to leave
// signals alone). Never switches tasks.
// Guarantees: a plugin of another version of Shoal is refused; the error for a missing library names what to install.
// Plugins stay loaded until the process ends; a process has at most one MPI library.
// Tests: tests/unit/net/plugin_test.cpp.
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

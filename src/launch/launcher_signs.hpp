// SPDX-License-Identifier: Apache-2.0
// Whether a launcher has started this process as one of several, from the environment variables that launchers set.
// Who may call: the thread that makes the job. Opens no connection.
// Shown by tests/unit/launch/launcher_signs_test.cpp, rendezvous_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal::launch {

/// Set by a node for those that it starts itself: its process number, and which place it has taken ("4711 9f3a..."): a
/// launcher that a node starts gives its own nodes other places.
inline constexpr const char* k_taken_variable = "SHOAL_TAKEN";

/// `shoal run --hosts`, PMIx (Open MPI, Slurm), PMI-2 or PMI-1 (MPICH, Slurm). Not what a process that has taken its
/// place handed down to those that it started itself.
bool is_externally_launched();
/// To be called before the node joins: the place is this process's. Changes the environment.
void take_external_place();
/// Whether this process has been, or is, a node.
bool external_place_taken();

/// Set by `shoal run` for the processes that it starts: it has checked the settings, and warned.
inline constexpr const char* k_warned_variable = "SHOAL_WARNED";

/// Whether another process of the job prints the warnings that concern all of them: the launcher, or the first process.
bool another_process_warns();

/// How many processes the launcher has started, as far as it says so; 0: it does not.
unsigned processes_started();

/// Whether the launcher of an MPI says that all processes are on this machine.
bool shows_one_machine();

/// The value of a name in a launcher's variable, such as "node=1 nodes=2 taken=4711".
std::optional<std::string> field_in(const std::string& text, const std::string& name);
/// Throws shoal::error, which names the variable, if there is no such number.
std::uint32_t number_in(const std::string& text, const std::string& name, const char* variable);

}  // namespace shoal::launch

// SPDX-License-Identifier: Apache-2.0
// The information from another launcher (srun, mpirun, mpiexec) or `shoal run --hosts`: which node of how many this
// process is; and the way by which node 0 publishes the address of the hub.
// Who may call: the thread that makes the job. Blocks its thread.
// Tests: tests/unit/launch/rendezvous_test.cpp, tests/cluster/transports_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::launch {

/// Set by `shoal run --hosts` and, for jobs without shared memory, by `shoal run`:
/// "node=1 nodes=2 hub=secret@host:port".
inline constexpr const char* k_hub_variable = "SHOAL_HUB";

class rendezvous {
public:
  virtual ~rendezvous() = default;
  /// "shoal run", "PMIx", "PMI-2", "MPI".
  virtual const char* by() const noexcept = 0;
  virtual std::uint32_t node() const noexcept = 0;
  virtual std::uint32_t nodes() const noexcept = 0;
  /// Where the hub is, if the launcher runs it; else empty: node 0 runs one.
  virtual std::string hub() const { return {}; }
  /// Whether the launcher says that all nodes are on one machine.
  virtual bool one_machine() const noexcept { return false; }
  /// Collective: node 0's word (at most 1000 printable characters but ';' and '='), on all nodes. Only where hub() is
  /// empty. Throws shoal::error.
  virtual std::string share(const std::string& word_of_node_0) = 0;
  /// Collective: what each node gives, by node, brought together by the launcher's own servers. Nothing: this launcher
  /// has no way for that, on any node; the hub has. Blocks without limit if a node does not come. Throws shoal::error.
  virtual std::optional<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> /*mine*/) {
    return std::nullopt;  // here, since a plugin finds no symbol of the program
  }
};

/// What this process's environment shows: `shoal run`'s variable, PMIx, PMI-2, in this order; null: none of them. An
/// MPI without PMIx (mpiexec of MPICH, which speaks PMI-1) is asked by runtime, through the transport's plugin. Whether
/// the place is this process's at all: launcher_signs.hpp. Throws shoal::error. The rendezvous must live as long as the
/// job: its destructor tells the launcher that this process ends normally.
std::unique_ptr<rendezvous> find_rendezvous();

/// What a plugin exports that asks a launcher's library (pmix/), under the name k_rendezvous_plugin_symbol.
struct rendezvous_plugin {
  std::uint32_t interface = 0;  // k_rendezvous_interface
  const char* version = "";     // of Shoal
  /// Throws shoal::error.
  std::unique_ptr<rendezvous> (*open)() = nullptr;
};
inline constexpr std::uint32_t k_rendezvous_interface = 2;
inline constexpr const char* k_rendezvous_plugin_symbol = "shoal_rendezvous_plugin";

}  // namespace shoal::launch

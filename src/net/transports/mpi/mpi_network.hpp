// SPDX-License-Identifier: Apache-2.0
// A node's part of a network of MPI. A process may hold several nodes, all of them on its one rank.
// Who may call: as wire.hpp says; the first of a process is opened by all processes of the job together.
// Shown by tests/unit/net/plugin_test.cpp.
#pragma once

#include <memory>
#include <vector>

#include "net/transports/mpi/mpi_library.hpp"
#include "net/transports/mpi/mpi_wire.hpp"
#include "net/wire.hpp"

namespace shoal::net {

class mpi_network final : public network {
public:
  explicit mpi_network(const network_request& request);
  std::vector<std::byte> address() override;
  void connect(std::span<const std::vector<std::byte>> addresses) override;
  wire& at(unsigned domain) noexcept override { return *wires_[domain]; }
  std::string describe() const override { return library_.describe(); }

private:
  mpi_library& library_;
  network_request request_;
  std::vector<std::unique_ptr<mpi_wire>> wires_;
};

}  // namespace shoal::net

// SPDX-License-Identifier: Apache-2.0
// A node's part of a network of UCX: a wire for each of its domains.
// Who may call: as wire.hpp says. Shown by tests/unit/net/plugin_test.cpp.
#pragma once

#include <memory>
#include <vector>

#include "net/transports/ucx/ucx_context.hpp"
#include "net/transports/ucx/ucx_wire.hpp"
#include "net/wire.hpp"

namespace shoal::net {

class ucx_network final : public network {
public:
  explicit ucx_network(const network_request& request);
  std::vector<std::byte> address() override;
  void connect(std::span<const std::vector<std::byte>> addresses) override;
  wire& at(unsigned domain) noexcept override { return *wires_[domain]; }
  std::string describe() const override;
  std::uint64_t registrations() const noexcept override;
  std::uint64_t registered_bytes() const noexcept override { return registrations() * request_.segment_bytes; }

private:
  network_request request_;
  std::vector<std::unique_ptr<ucx_context>> contexts_;  // one, or one for each wire
  std::vector<std::unique_ptr<ucx_wire>> wires_;
};

}  // namespace shoal::net

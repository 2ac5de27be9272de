// SPDX-License-Identifier: Apache-2.0
#include "net/transports/ucx/ucx_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <shoal/error.hpp>
#include <utility>

#include "net/transports/ucx/ucx_address.hpp"

namespace shoal::net {

ucx_network::ucx_network(const network_request& request) : request_(request) {
  for (unsigned domain = 0; domain < request.domains; ++domain) {
    if (domain == 0 || !request.shared_context)
      contexts_.push_back(std::make_unique<ucx_context>(request, request.shared_context ? request.domains : 1,
                                                        request.allocate && domain == 0));
    wires_.push_back(std::make_unique<ucx_wire>(*contexts_.back(), request));
  }
}

std::vector<std::byte> ucx_network::address() {
  ucx_address all{reinterpret_cast<std::uintptr_t>(request_.segment), {}};
  for (unsigned domain = 0; domain < request_.domains; ++domain) {
    // Who allocated the memory says best how to reach it.
    const auto& owner = contexts_[request_.shared_context || request_.allocate ? 0 : domain];
    all.domains.push_back({wires_[domain]->address(), owner->key()});
  }
  return all.bytes();
}

void ucx_network::connect(std::span<const std::vector<std::byte>> addresses) {
  for (std::uint32_t node = 0; node < request_.nodes; ++node) {
    if (node == request_.node) continue;
    auto from = ucx_address::parse(addresses[node]);
    if (!from)
      throw error(errc::mismatch, fmt::format("node {} says where it is in a way that this node does not understand; "
                                              "start the same program, with the same settings, on all nodes",
                                              node));
    if (from->domains.size() != request_.domains)
      throw error(errc::mismatch, fmt::format("node {} has {} communication domains and node {} has {}; give all nodes "
                                              "the same --domains and -w",
                                              node, from->domains.size(), request_.node, request_.domains));
    for (unsigned domain = 0; domain < request_.domains; ++domain) {
      ucx_address::domain& d = from->domains[domain];
      wires_[domain]->introduce(node, std::move(d.worker), std::move(d.key), from->segment);
    }
  }
  // The others when they are first used; this one now, so that describe() knows, and a network that cannot be is known
  // of at the start.
  if (request_.nodes > 1) wires_[0]->meet((request_.node + 1) % request_.nodes);
}

std::string ucx_network::describe() const {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  const std::vector<std::string> transports = wires_[0]->transports();
  return fmt::format("UCX {}.{}.{}{}{}", major, minor, release,
                     transports.empty() ? "" : fmt::format(" ({})", fmt::join(transports, ", ")),
                     contexts_[0]->refused() ? ", copies by messages since it may use TCP" : "");
}

std::uint64_t ucx_network::registrations() const noexcept {
  std::uint64_t count = 0;
  for (const auto& context : contexts_) count += context->registered() ? 1 : 0;
  return count;
}

}  // namespace shoal::net

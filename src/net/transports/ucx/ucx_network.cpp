// SPDX-License-Identifier: Apache-2.0
#include "net/transports/ucx/ucx_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <shoal/error.hpp>
#include <utility>

namespace shoal::net {
namespace {

// An address: where the segment lies, then for each domain its worker's address and its segment's key, each after its
// length; all numbers are 64-bit words.
void write_number(std::vector<std::byte>& to, std::uint64_t number) {
  to.resize(to.size() + sizeof number);
  std::memcpy(to.data() + to.size() - sizeof number, &number, sizeof number);
}

void write_bytes(std::vector<std::byte>& to, const std::vector<std::byte>& bytes) {
  write_number(to, bytes.size());
  to.insert(to.end(), bytes.begin(), bytes.end());
}

class reader {
public:
  reader(std::uint32_t node, std::span<const std::byte> rest) : node_(node), rest_(rest) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::vector<std::byte> bytes() {
    const auto part = take(number());
    return {part.begin(), part.end()};
  }

private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (bytes > rest_.size())
      throw error(errc::mismatch, fmt::format("node {} says where it is in a way that this node does not understand; "
                                              "start the same program, with the same settings, on all nodes",
                                              node_));
    const auto part = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return part;
  }

  std::uint32_t node_;
  std::span<const std::byte> rest_;
};

}  // namespace

ucx_network::ucx_network(const network_request& request) : request_(request) {
  for (unsigned domain = 0; domain < request.domains; ++domain) {
    if (domain == 0 || !request.shared_context)
      contexts_.push_back(std::make_unique<ucx_context>(request, request.shared_context ? request.domains : 1,
                                                        request.allocate && domain == 0));
    wires_.push_back(std::make_unique<ucx_wire>(*contexts_.back(), request));
  }
}

std::vector<std::byte> ucx_network::address() {
  std::vector<std::byte> all;
  write_number(all, reinterpret_cast<std::uintptr_t>(request_.segment));
  write_number(all, request_.domains);
  for (unsigned domain = 0; domain < request_.domains; ++domain) {
    write_bytes(all, wires_[domain]->address());
    // Who allocated the memory says best how to reach it.
    write_bytes(all, contexts_[request_.shared_context || request_.allocate ? 0 : domain]->key());
  }
  return all;
}

void ucx_network::connect(std::span<const std::vector<std::byte>> addresses) {
  for (std::uint32_t node = 0; node < request_.nodes; ++node) {
    if (node == request_.node) continue;
    reader from(node, addresses[node]);
    const std::uint64_t base = from.number();
    if (const std::uint64_t domains = from.number(); domains != request_.domains)
      throw error(errc::mismatch, fmt::format("node {} has {} communication domains and node {} has {}; give all nodes "
                                              "the same --domains and -w",
                                              node, domains, request_.node, request_.domains));
    for (auto& wire : wires_) {
      std::vector<std::byte> address = from.bytes();
      wire->introduce(node, std::move(address), from.bytes(), base);
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
  return fmt::format("UCX {}.{}.{}{}", major, minor, release,
                     transports.empty() ? "" : fmt::format(" ({})", fmt::join(transports, ", ")));
}

std::uint64_t ucx_network::registrations() const noexcept {
  std::uint64_t count = 0;
  for (const auto& context : contexts_) count += context->registered() ? 1 : 0;
  return count;
}

}  // namespace shoal::net

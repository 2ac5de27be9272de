// SPDX-License-Identifier: Apache-2.0
// What the nodes of a job over UCX tell each other: the address of a node, and the heading of each message. Bytes only,
// without UCX.
// Who may call: any thread. Guarantees: parse() of arbitrary bytes gives nothing or an address whose bytes are those;
// of a message nothing is read before its token has been compared. Tests: tests/fuzz/address_fuzz.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "net/wire.hpp"

namespace shoal::net {

/// Where the segment lies, then for each domain its worker's address and its segment's key, each after its length; all
/// numbers are 64-bit words.
struct ucx_address {
  struct domain {
    std::vector<std::byte> worker;
    std::vector<std::byte> key;  // empty: no puts and gets
  };
  std::uint64_t segment = 0;
  std::vector<domain> domains;

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> to;
    const auto number = [&to](std::uint64_t value) {
      to.resize(to.size() + sizeof value);
      std::memcpy(to.data() + to.size() - sizeof value, &value, sizeof value);
    };
    number(segment);
    number(domains.size());
    for (const domain& d : domains)
      for (const auto* part : {&d.worker, &d.key}) {
        number(part->size());
        to.insert(to.end(), part->begin(), part->end());
      }
    return to;
  }

  static std::optional<ucx_address> parse(std::span<const std::byte> rest) {
    const auto number = [&rest](std::uint64_t& value) {
      if (rest.size() < sizeof value) return false;
      std::memcpy(&value, rest.data(), sizeof value);
      rest = rest.subspan(sizeof value);
      return true;
    };
    const auto part = [&](std::vector<std::byte>& to) {
      std::uint64_t bytes = 0;
      if (!number(bytes) || bytes > rest.size()) return false;
      to.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(bytes));
      rest = rest.subspan(bytes);
      return true;
    };
    constexpr std::uint64_t k_least_domain_bytes = 16;
    ucx_address a;
    std::uint64_t count = 0;
    if (!number(a.segment) || !number(count) || count > rest.size() / k_least_domain_bytes) return std::nullopt;
    for (; count > 0; --count) {
      domain d;
      if (!part(d.worker) || !part(d.key)) return std::nullopt;
      a.domains.push_back(std::move(d));
    }
    return rest.empty() ? std::optional(std::move(a)) : std::nullopt;
  }
};

/// In front of each message.
struct ucx_heading {
  message_label label;
  std::uint64_t number;  // of this wire's messages to that node
  std::uint64_t token;   // of the job

  /// Nothing: not of this job.
  static std::optional<ucx_heading> read(const void* bytes, std::size_t count, std::uint64_t token) noexcept {
    if (count != sizeof(ucx_heading)) return std::nullopt;
    std::uint64_t theirs = 0;
    std::memcpy(&theirs, static_cast<const std::byte*>(bytes) + offsetof(ucx_heading, token), sizeof theirs);
    if (theirs != token) return std::nullopt;
    ucx_heading h{};
    std::memcpy(&h, bytes, sizeof h);
    return h;
  }
};
static_assert(sizeof(ucx_heading) == 40);

}  // namespace shoal::net

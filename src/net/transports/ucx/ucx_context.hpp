// SPDX-License-Identifier: Apache-2.0
// A UCX context: its configuration, its devices, and the node's segment registered with them. By default each wire has
// its own, so that wires share nothing; optionally one for all wires of a node.
// Who may call: the node's thread, at start and end; the readers any thread. Throws shoal::error.
// Guarantees: settings of UCX in the environment (UCX_...) take precedence over those of Shoal. No puts and gets where
// UCX may use TCP, unless tcp_transfers asks for them.
// Tests: tests/unit/net/plugin_test.cpp.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/wire.hpp"

namespace shoal::net {

class ucx_context {
public:
  /// `wires`: how many will use it, each perhaps on a thread of its own. `allocates`: the segment's memory, as the
  /// request wishes; one of a node's contexts does.
  ucx_context(const network_request& request, unsigned wires, bool allocates);
  ~ucx_context();
  ucx_context(const ucx_context&) = delete;
  ucx_context& operator=(const ucx_context&) = delete;

  ucp_context_h get() const noexcept { return context_; }
  /// What others need to reach the segment; empty if there is none.
  const std::vector<std::byte>& key() const noexcept { return key_; }
  /// The registration, if these bytes are in the segment; else null.
  ucp_mem_h registration(const void* first, std::size_t bytes) const noexcept {
    const std::size_t from = static_cast<std::size_t>(static_cast<const std::byte*>(first) - segment_);
    return from < segment_bytes_ && bytes <= segment_bytes_ - from ? registration_ : nullptr;
  }
  bool registered() const noexcept { return registration_ != nullptr; }
  /// There is a segment, and it is not registered, because UCX may use TCP.
  bool refused() const noexcept { return refused_; }

private:
  void open(const ucp_config_t* config, const network_request& request, unsigned wires);
  void register_segment(bool allocates);

  ucp_context_h context_ = nullptr;
  ucp_mem_h registration_ = nullptr;
  std::byte* segment_;
  std::uint64_t segment_bytes_;
  bool refused_ = false;
  std::vector<std::byte> key_;
};

/// Throws if it is not UCS_OK: "UCX could not <what>: <its reason>".
void check(ucs_status_t status, const char* what);

}  // namespace shoal::net

// SPDX-License-Identifier: Apache-2.0
// The link between the leaders of a communicator's processes, for the algorithms of src/collectives: messages of the
// library's own between ranks.
// Who may call: a task on the leader's worker; it waits. Test: tests/conformance, with several processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "rank/collective_call.hpp"
#include "rank/transfer.hpp"
#include "shoal/detail/collectives.hpp"

namespace shoal::rank {

class leader_link final : public collectives::link {
public:
  /// For operation number `sequence` of `in`, which `call` is one of the calls of.
  leader_link(rank_state& leader, const communicator& in, std::uint64_t sequence, const collective_call& call);
  leader_link(const leader_link&) = delete;
  leader_link& operator=(const leader_link&) = delete;
  ~leader_link() override;

  void expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) override;
  void await(std::uint32_t from, std::uint32_t step) override;
  void send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) override;

  /// The place among the leaders of the process that has that rank of the world.
  std::uint32_t place_of(int world) const noexcept;

private:
  struct wait;
  route route_to(std::uint32_t member, std::uint32_t step) const noexcept;
  void await(request& r);
  void finish(request& r);
  void expect_no_more();

  rank_state& leader_;
  const communicator& in_;
  const collective kind_;
  const context_id context_;
  const std::uint32_t operation_;                                         // its part of the tag
  std::map<std::pair<std::uint32_t, std::uint32_t>, request*> expected_;  // by member and step
};

/// For the end of a rank: whether a message of another leader is left, so that members have called different operations.
/// The sentence that says so.
std::optional<std::string> stray_message(const rank_state& me);

}  // namespace shoal::rank

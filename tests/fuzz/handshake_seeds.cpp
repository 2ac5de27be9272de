// SPDX-License-Identifier: Apache-2.0
// The first messages of a connection, as seeds for fuzzing their readers.
#include "fuzz/seeds.hpp"
#include "launch/handshake.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  using namespace launch;
  const job_secret secret{std::byte{1}, std::byte{2}};
  const nonce number{std::byte{3}, std::byte{4}};
  const opening o{k_control_version, 3, number};
  const challenge c{k_control_version, number, hub_proof(secret, o, number)};
  std::vector<std::string> result;
  const auto add = [&result](char kind, const auto& bytes) {
    result.push_back(kind + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  add('\0', o.bytes());
  add('\1', c.bytes());
  add('\2', answer_bytes(node_proof(secret, o, number)));
  add('\3', secret_text(secret));
  return result;
}

}  // namespace shoal::fuzz

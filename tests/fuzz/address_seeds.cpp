// SPDX-License-Identifier: Apache-2.0
// Addresses and headings, as seeds for fuzzing their readers.
#include "fuzz/seeds.hpp"
#include "net/transports/ucx/ucx_address.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  using namespace net;
  std::vector<std::string> result;
  const auto add = [&result](char kind, const void* bytes, std::size_t count) {
    result.push_back(kind + std::string(static_cast<const char*>(bytes), count));
  };
  const std::vector<std::byte> worker(120, std::byte{7}), key(24, std::byte{9});
  for (const ucx_address& a :
       {ucx_address{0x7f0000000000, {{worker, key}, {worker, {}}}}, ucx_address{0, {{worker, {}}}}, ucx_address{}}) {
    const auto bytes = a.bytes();
    add('\0', bytes.data(), bytes.size());
  }
  for (const message_kind kind :
       {message_kind::request, message_kind::reply, message_kind::handler_request, message_kind::handler_reply,
        message_kind::acknowledgement, message_kind::nudge, message_kind::nudged}) {
    ucx_heading h{};
    h.label.from = 2;
    h.label.lane = 1;
    h.label.kind = static_cast<std::uint8_t>(kind);
    h.label.executed[0] = 5;
    h.number = 6;
    h.token = 0x0807060504030201;
    add('\1', &h, sizeof h);
  }
  return result;
}

}  // namespace shoal::fuzz

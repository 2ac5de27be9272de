// SPDX-License-Identifier: Apache-2.0
// Fuzzes what nodes over UCX read of each other without UCX: addresses, and headings of messages with their labels. The
// first byte chooses which.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "fuzz/seeds.hpp"
#include "net/transports/ucx/ucx_address.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "address_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal::net;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 2 == 0) {
    if (const auto a = ucx_address::parse(bytes))
      expect(std::ranges::equal(a->bytes(), bytes), "an address is its bytes");
    return 0;
  }
  constexpr std::uint64_t k_token = 0x0807060504030201;
  constexpr auto k_acknowledges = static_cast<std::uint8_t>(message_kind::acknowledgement);
  constexpr auto k_last = static_cast<std::uint8_t>(message_kind::nudged);
  constexpr std::uint32_t k_nodes = 3, k_here = 1, k_lanes = 2;
  const auto h = ucx_heading::read(bytes.data(), bytes.size(), k_token);
  if (!h) return 0;
  expect(bytes.size() == sizeof(ucx_heading) && h->token == k_token, "a heading of this job has its token");
  for (const std::size_t words : {0U, 1U}) {
    if (!is_sound(h->label, words, k_here, k_nodes, k_lanes)) continue;
    expect(h->label.from < k_nodes && h->label.from != k_here && h->label.lane < k_lanes && h->label.kind <= k_last,
           "a sound label names another node, a worker and a kind");
    expect((h->label.kind >= k_acknowledges) == (words == 0),
           "acknowledgements and nudges have no words, the others have");
  }
  return 0;
}

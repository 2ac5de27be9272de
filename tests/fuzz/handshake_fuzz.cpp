// SPDX-License-Identifier: Apache-2.0
// Fuzzes what the hub and a node read before they trust each other: openings, challenges, answers, and the secret's
// text in the environment. What is read must be written as the same bytes; no proof fits but the one of the secret.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "fuzz/seeds.hpp"
#include "launch/handshake.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "handshake_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal::launch;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const job_secret secret{std::byte{1}, std::byte{2}};
  switch (data[0] % 4) {
    case 0: {
      const auto o = opening::parse(bytes);
      if (!o) break;
      expect(std::ranges::equal(o->bytes(), bytes), "an opening is its bytes");
      job_secret other = secret;
      other[15] = std::byte{1};
      expect(node_proof(secret, *o, {}) != node_proof(other, *o, {}), "a proof depends on the secret");
      expect(node_proof(secret, *o, {}) != hub_proof(secret, *o, {}), "a proof depends on the role");
      break;
    }
    case 1:
      if (const auto c = challenge::parse(bytes)) {
        const auto again = challenge::parse(c->bytes());
        expect(again && again->version == c->version && again->number == c->number && again->proof == c->proof,
               "a challenge survives");
      }
      break;
    case 2:
      if (bytes.size() == k_answer_bytes)
        expect(std::ranges::equal(answer_bytes(parse_answer(bytes)), bytes), "an answer is its bytes");
      else
        static_cast<void>(parse_answer(bytes));
      break;
    default:
      if (const auto s = parse_secret(text)) expect(secret_text(*s).size() == text.size(), "a secret is its text");
  }
  return 0;
}

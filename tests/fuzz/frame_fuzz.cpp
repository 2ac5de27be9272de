// SPDX-License-Identifier: Apache-2.0
// Fuzzes the messages that a node or the hub reads after the peer has proved the secret: frames in pieces whose lengths
// the first byte chooses, with payloads decoded as every kind of message. A decoded message must encode to its own
// bytes; an invalid one must only set the reader's error state.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "launch/control_message.hpp"
#include "launch/frame.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "frame_fuzz: %s\n", what);
  std::abort();
}

bool is_printable(const std::string& text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

void read_all(const shoal::launch::frame& f) {
  using namespace shoal::launch;
  if (const auto m = hello_message::parse(f.payload))
    expect(m->bytes().size() == f.payload.size(), "a hello of its size");
  if (const auto m = welcome_message::parse(f.payload)) {
    expect(m->bytes().size() == f.payload.size(), "a welcome of its size");
    for (const peer& p : {m->hub, m->first}) expect(is_printable(p.host), "hosts that can be printed");
  }
  if (const auto m = parts_block::parse(f.payload, 4096)) {
    std::vector<std::vector<std::byte>> parts;
    m->for_each(
        [&parts](std::uint32_t, std::span<const std::byte> part) { parts.emplace_back(part.begin(), part.end()); });
    expect(parts.size() == m->count(), "as many parts as it says");
    expect(parts_block::bytes(m->first(), parts) == f.payload, "parts that are their bytes");
  }
  if (const auto m = refusal_message::parse(f.payload)) expect(is_printable(m->why), "reasons that can be printed");
  if (const auto m = loss_message::parse(f.payload)) {
    expect(m->bytes().size() == f.payload.size(), "a loss of its size");
    expect(is_printable(m->why), "losses that can be printed");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shoal::launch;
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 64;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  frame_reader reader;
  std::size_t read = 0;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    reader.add(bytes.subspan(at, std::min(step, bytes.size() - at)));
    while (const auto f = reader.next()) {
      const auto again = frame_bytes(f->type, f->payload);
      expect(std::ranges::equal(again, bytes.subspan(read, again.size())), "a frame that is its bytes");
      read += again.size();
      read_all(*f);
    }
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "launch/control_message.hpp"

#include "launch/byte_stream.hpp"

namespace shoal::launch {
namespace {

void put(byte_writer& out, const peer& p) {
  out.number(p.pid);
  out.text(p.host);
}

peer get_peer(byte_reader& in) {
  peer p;
  p.pid = in.number<std::uint32_t>();
  p.host = printable(in.text());
  return p;
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

std::vector<std::byte> hello_message::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(node);
  out.number(nodes);
  put(out, me);
  out.text(code);
  out.text(settings);
  return result;
}

std::optional<hello_message> hello_message::parse(std::span<const std::byte> payload) {
  byte_reader in(payload);
  hello_message m;
  m.node = in.number<std::uint32_t>();
  m.nodes = in.number<std::uint32_t>();
  m.me = get_peer(in);
  m.code = in.text();
  m.settings = in.text();
  return in.complete() ? std::optional(std::move(m)) : std::nullopt;
}

std::vector<std::byte> welcome_message::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(silence_ns);
  out.number(nodes);
  put(out, hub);
  put(out, first);
  return result;
}

std::optional<welcome_message> welcome_message::parse(std::span<const std::byte> payload) {
  byte_reader in(payload);
  welcome_message m;
  m.silence_ns = in.number<std::int64_t>();
  m.nodes = in.number<std::uint32_t>();
  m.hub = get_peer(in);
  m.first = get_peer(in);
  if (m.silence_ns < 0) return std::nullopt;
  return in.complete() ? std::optional(std::move(m)) : std::nullopt;
}

std::vector<std::byte> refusal_message::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(static_cast<std::uint32_t>(code));
  out.text(why);
  return result;
}

std::optional<refusal_message> refusal_message::parse(std::span<const std::byte> payload) {
  byte_reader in(payload);
  refusal_message m;
  const auto code = in.number<std::uint32_t>();
  m.why = printable(in.text());
  if (code < static_cast<std::uint32_t>(errc::invalid_argument) || code > static_cast<std::uint32_t>(errc::internal))
    return std::nullopt;
  m.code = static_cast<errc>(code);
  return in.complete() ? std::optional(std::move(m)) : std::nullopt;
}

std::vector<std::byte> loss_message::bytes() const {
  std::vector<std::byte> result;
  byte_writer out(result);
  out.number(node);
  out.number(signal);
  out.text(why);
  return result;
}

std::optional<loss_message> loss_message::parse(std::span<const std::byte> payload) {
  byte_reader in(payload);
  loss_message m;
  m.node = in.number<std::uint32_t>();
  m.signal = in.number<std::uint32_t>();
  m.why = printable(in.text());
  return in.complete() ? std::optional(std::move(m)) : std::nullopt;
}

std::vector<std::byte> parts_block::bytes(std::uint32_t first, std::span<const std::vector<std::byte>> parts) {
  std::vector<run> runs;
  std::size_t all = 0;
  for (const auto& part : parts) {
    const auto size = static_cast<std::uint32_t>(part.size());
    if (runs.empty() || runs.back().size != size) runs.push_back({0, size});
    ++runs.back().count;
    all += part.size();
  }
  std::vector<std::byte> result;
  result.reserve(sizeof first + sizeof(std::uint32_t) + runs.size() * sizeof(run) + all);
  byte_writer out(result);
  out.number(first);
  out.number(static_cast<std::uint32_t>(runs.size()));
  for (const run& r : runs) {
    out.number(r.count);
    out.number(r.size);
  }
  for (const auto& part : parts) out.bytes(part);
  return result;
}

std::optional<parts_block> parts_block::parse(std::span<const std::byte> payload, std::uint32_t nodes) {
  byte_reader in(payload);
  parts_block block;
  block.first_ = in.number<std::uint32_t>();
  const auto runs = in.number<std::uint32_t>();
  if (in.failed() || block.first_ > nodes || runs > in.left() / sizeof(run)) return std::nullopt;
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    run r;
    r.count = in.number<std::uint32_t>();
    r.size = in.number<std::uint32_t>();
    if (r.count == 0 || r.count > nodes - block.first_ - block.count_) return std::nullopt;
    if (!block.runs_.empty() && block.runs_.back().size == r.size) return std::nullopt;  // it would be one run
    block.count_ += r.count;
    all += std::uint64_t{r.count} * r.size;
    block.runs_.push_back(r);
  }
  block.bytes_ = in.rest();
  return block.bytes_.size() == all ? std::optional(std::move(block)) : std::nullopt;
}

}  // namespace shoal::launch

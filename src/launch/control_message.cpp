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
  put(out, hub);
  out.number(static_cast<std::uint32_t>(nodes.size()));
  for (const peer& p : nodes) put(out, p);
  return result;
}

std::optional<welcome_message> welcome_message::parse(std::span<const std::byte> payload) {
  constexpr std::size_t least_peer_bytes = 8;
  byte_reader in(payload);
  welcome_message m;
  m.silence_ns = in.number<std::int64_t>();
  m.hub = get_peer(in);
  const auto count = in.number<std::uint32_t>();
  if (count > in.left() / least_peer_bytes || m.silence_ns < 0) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) m.nodes.push_back(get_peer(in));
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

}  // namespace shoal::launch

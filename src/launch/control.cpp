// SPDX-License-Identifier: Apache-2.0
#include "launch/control.hpp"

#include <fmt/format.h>

#include <charconv>
#include <exception>

#include "base/log.hpp"
#include "launch/control_connection.hpp"
#include "launch/handshake.hpp"
#include "machine/socket.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {

std::string hub_place::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}@{}:{}", secret, host, port)
                                             : fmt::format("{}@[{}]:{}", secret, host, port);
}

hub_place hub_place::parse(std::string_view text) {
  // The text itself is not shown: it holds the secret.
  const auto refuse = [](const char* what) -> hub_place {
    throw error(errc::bad_input,
                fmt::format("the place of a job's hub, SECRET@HOST:PORT, {}; it is set by the launcher "
                            "and not by hand",
                            what));
  };
  const auto at = text.find('@');
  if (at == std::string_view::npos || !parse_secret(text.substr(0, at)))
    return refuse("does not begin with 32 hexadecimal digits and an @");
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon < at) return refuse("lacks a port");
  hub_place place;
  place.secret = text.substr(0, at);
  place.host = machine::host_of(std::string(text.substr(at + 1)));
  const std::string_view port = text.substr(colon + 1);
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (failure != std::errc{} || end != port.data() + port.size() || place.port == 0)
    return refuse("has a port that is none");
  if (place.host.empty() || place.host.find_first_of(" @[]") != std::string::npos) return refuse("has no host");
  return place;
}

std::string default_hub_address(bool one_machine) {
  return one_machine ? std::string("127.0.0.1") : machine::reachable_address();
}

control::control(const hub_place& place, const identity& me, std::int64_t timeout_ns)
    : connection_(std::make_unique<connection>(place, me, timeout_ns)) {}
control::~control() = default;

std::vector<std::vector<std::byte>> control::exchange(std::span<const std::byte> mine) {
  return connection_->exchange(mine);
}

void control::leave() noexcept {
  try {
    connection_->leave();
  } catch (const std::exception& e) {
    base::warn("this node cannot say that it leaves ({}); others may take it for lost", e.what());
  }
}

std::optional<loss> control::watch(std::int64_t timeout_ns, int wake_descriptor) noexcept {
  try {
    return connection_->watch(timeout_ns, wake_descriptor);
  } catch (const std::exception& e) {
    return loss{k_no_node, std::string("this node cannot hear of the others any more: ") + e.what(), 0};
  }
}

void control::live_regularly() noexcept {
  try {
    connection_->live_regularly();
  } catch (const std::exception& e) {
    base::warn("this node cannot say that it gives signs of life ({}); its loss is noticed later", e.what());
  }
}

int control::descriptor() const noexcept { return connection_->descriptor(); }

void control::announce_lost(std::uint32_t node, std::string_view why) noexcept {
  try {
    connection_->announce(frame_type::lost, {node, 0, std::string(why)});
  } catch (const std::exception& e) {
    base::warn("the others cannot be told of a loss ({})", e.what());
  }
}

}  // namespace shoal::launch

// SPDX-License-Identifier: Apache-2.0
// Streams of bytes between processes: TCP, IPv4 and IPv6, and pairs within a machine. Non-blocking; poll_set waits for
// several. Who may call: any thread, a socket one thread at a time for each direction. listen(), connect() and the
// names block their thread (the resolver may take seconds); the rest never blocks. Never switches tasks.
// Guarantees: listen() binds the one address it was asked for; transfers may be partial, are not interrupted by
// signals, and raise none where the other side is gone; descriptors do not reach children unless listed for them.
// Shown by tests/unit/machine/socket_test.cpp.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "machine/descriptor.hpp"

namespace shoal::machine {

enum class stream_state : std::uint8_t { moved, blocked, closed };
enum class acceptance : std::uint8_t { one, nobody, no_room };  // no_room: the limit of open descriptors

struct transfer {
  std::size_t bytes = 0;
  stream_state state = stream_state::blocked;  // moved: bytes is not 0; closed: nothing will ever move again
};

class socket {
public:
  socket() = default;

  /// Port 0: one that is free. Throws shoal::error if the name does not resolve, the address is not this machine's, or
  /// the port is taken.
  static socket listen(const std::string& host, std::uint16_t port);
  /// Throws shoal::error; errc::timeout if nothing answers in time.
  static socket connect(const std::string& host, std::uint16_t port, std::int64_t timeout_ns);
  /// Two ends on this machine; the second is for a child, which expects that reading waits.
  static std::pair<socket, socket> pair();

  bool open() const noexcept { return descriptor_.open(); }
  void close() noexcept { descriptor_.close(); }
  int descriptor() const noexcept { return descriptor_.number(); }

  acceptance accept(socket& into) noexcept;
  transfer receive(std::span<std::byte> room) noexcept;
  transfer send(std::span<const std::byte> bytes) noexcept;

  /// "127.0.0.1:4711", "[::1]:4711".
  std::string own_address() const { return address(false); }
  std::string peer_address() const { return address(true); }

private:
  explicit socket(int number) noexcept : descriptor_(number) {}
  std::string address(bool of_peer) const;

  machine::descriptor descriptor_;
};

/// The number after the last colon of an address.
std::uint16_t port_of(const std::string& address) noexcept;
/// What is in front of it, without brackets.
std::string host_of(const std::string& address);

/// Waits for several descriptors at once; filled anew for each wait.
class poll_set {
public:
  void clear() noexcept { entries_.clear(); }
  /// Its index. A negative descriptor is never ready.
  std::size_t add(int descriptor, bool read, bool write);
  /// Negative time: for ever. False if the time was over first.
  bool wait(std::int64_t timeout_ns) noexcept;
  /// Also after an end or a failure: the next transfer tells.
  bool readable(std::size_t index) const noexcept;
  bool writable(std::size_t index) const noexcept;

private:
  std::vector<pollfd> entries_;
};

/// This machine's name.
std::string host_name();
/// The first numeric address that the name has. Throws errc::not_found.
std::string resolve(const std::string& host);
/// The address by which other machines may reach this one: what its name resolves to, or, if that is a loopback
/// address, the address of its first network that is up. Throws errc::not_found.
std::string reachable_address();

}  // namespace shoal::machine

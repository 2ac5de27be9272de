// SPDX-License-Identifier: Apache-2.0
#include "machine/socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr int k_backlog = 65535;  // the system lowers it to net.core.somaxconn

std::string joined(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

/// What getaddrinfo() found, given back.
class address_list {
public:
  address_list(const std::string& host, std::uint16_t port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    const int refused = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &first_);
    if (refused != 0)
      throw error(errc::not_found,
                  fmt::format("the host '{}' does not resolve: {}; is the name right, and does this machine know it?",
                              host, refused == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(refused)));
  }
  ~address_list() { ::freeaddrinfo(first_); }
  address_list(const address_list&) = delete;
  address_list& operator=(const address_list&) = delete;

  const addrinfo* first() const noexcept { return first_; }

private:
  addrinfo* first_ = nullptr;
};

int open_stream(const addrinfo& at) noexcept {
  return above_standard(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
}

void send_at_once(int number) noexcept {
  const int on = 1;
  ::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string numeric(const sockaddr* address, socklen_t length, bool with_port) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "unknown";
  if (!with_port) return host.data();
  return joined(host.data(), static_cast<std::uint16_t>(std::atoi(port.data())));
}

// 0, or why not.
int bind_and_listen(int number, const addrinfo& at) noexcept {
  const int on = 1;
  if (at.ai_family == AF_INET6) ::setsockopt(number, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  ::setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(number, at.ai_addr, at.ai_addrlen) != 0 || ::listen(number, k_backlog) != 0) return errno;
  return 0;
}

int finish_connecting(int number, const addrinfo& to, std::uint64_t deadline_ns) noexcept {
  if (::connect(number, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  poll_set wait;
  wait.add(number, false, true);
  const std::uint64_t now = base::now_ns();
  if (!wait.wait(now < deadline_ns ? static_cast<std::int64_t>(deadline_ns - now) : 0)) return ETIMEDOUT;
  int cause = 0;
  socklen_t size = sizeof cause;
  if (::getsockopt(number, SOL_SOCKET, SO_ERROR, &cause, &size) != 0) return errno;
  return cause;
}

transfer outcome(ssize_t moved) noexcept {
  if (moved > 0) return {static_cast<std::size_t>(moved), stream_state::moved};
  const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM;
  return {0, moved < 0 && later ? stream_state::blocked : stream_state::closed};
}

}  // namespace

socket socket::listen(const std::string& host, std::uint16_t port) {
  const address_list found(host, port);
  int cause = EADDRNOTAVAIL;
  for (const addrinfo* at = found.first(); at != nullptr; at = at->ai_next) {
    socket made(open_stream(*at));
    cause = made.open() ? bind_and_listen(made.descriptor(), *at) : errno;
    if (cause == 0) return made;
  }
  const char* advice = "check ulimit -n";
  if (cause == EADDRNOTAVAIL) advice = "the address is not this machine's; name one that `ip address` shows";
  if (cause == EADDRINUSE)
    advice = port != 0 ? "another program listens there; choose another port" : "no port is free; end other programs";
  if (cause == EACCES) advice = "ports below 1024 are the administrator's; choose another";
  throw error(errc::system,
              fmt::format("cannot listen on {}: {}; {}", joined(host, port), std::strerror(cause), advice));
}

socket socket::connect(const std::string& host, std::uint16_t port, std::int64_t timeout_ns) {
  const std::uint64_t deadline_ns = base::now_ns() + static_cast<std::uint64_t>(std::max<std::int64_t>(timeout_ns, 0));
  const address_list found(host, port);
  int cause = 0;
  for (const addrinfo* at = found.first(); at != nullptr; at = at->ai_next) {
    socket made(open_stream(*at));
    // One that does not answer leaves time for those behind it.
    std::uint64_t left = 0;
    for (const addrinfo* one = at; one != nullptr; one = one->ai_next) ++left;
    const std::uint64_t now_ns = base::now_ns();
    const std::uint64_t share_ns = now_ns < deadline_ns ? (deadline_ns - now_ns) / left : 0;
    cause = made.open() ? finish_connecting(made.descriptor(), *at, now_ns + share_ns) : errno;
    if (cause != 0) continue;
    send_at_once(made.descriptor());
    return made;
  }
  const char* advice = "is there a way from this machine to that one?";
  if (cause == ECONNREFUSED) advice = "nothing listens there (any more)";
  if (cause == ETIMEDOUT) advice = "is the link up, and does a firewall let it through?";
  throw error(cause == ETIMEDOUT ? errc::timeout : errc::system,
              fmt::format("cannot reach {}: {}; {}", joined(host, port), std::strerror(cause), advice));
}

std::pair<socket, socket> socket::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw error(errc::system,
                fmt::format("cannot make a channel to a child: {}; check ulimit -n", std::strerror(errno)));
  for (int& end : ends) end = above_standard(end);
  std::pair<socket, socket> made{socket(ends[0]), socket(ends[1])};
  if (!made.first.open() || !made.second.open())
    throw error(errc::system, "cannot make a channel to a child: no descriptor is free; check ulimit -n");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

acceptance socket::accept(socket& into) noexcept {
  for (;;) {
    const int number = above_standard(::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (number >= 0) {
      send_at_once(number);
      into = socket(number);
      return acceptance::one;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    const bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return full ? acceptance::no_room : acceptance::nobody;
  }
}

transfer socket::receive(std::span<std::byte> room) noexcept {
  ssize_t got = 0;
  do {
    got = ::recv(descriptor(), room.data(), room.size(), 0);
  } while (got < 0 && errno == EINTR);
  return outcome(got);
}

transfer socket::send(std::span<const std::byte> bytes) noexcept {
  ssize_t gone = 0;
  do {
    gone = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (gone < 0 && errno == EINTR);
  return outcome(gone);
}

std::string socket::address(bool of_peer) const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int refused =
      of_peer ? ::getpeername(descriptor(), generic, &length) : ::getsockname(descriptor(), generic, &length);
  return refused != 0 ? "unknown" : numeric(generic, length, true);
}

std::uint16_t port_of(const std::string& address) noexcept {
  const auto colon = address.rfind(':');
  return colon == std::string::npos ? std::uint16_t{0}
                                    : static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1));
}

std::string host_of(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

std::size_t poll_set::add(int descriptor, bool read, bool write) {
  entries_.push_back({descriptor, static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0)), 0});
  return entries_.size() - 1;
}

bool poll_set::wait(std::int64_t timeout_ns) noexcept {
  if (poll_for(entries_, timeout_ns) > 0) return true;
  for (pollfd& entry : entries_) entry.revents = 0;
  return false;
}

bool poll_set::readable(std::size_t index) const noexcept {
  const pollfd& entry = entries_[index];
  return (entry.revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool poll_set::writable(std::size_t index) const noexcept {
  const pollfd& entry = entries_[index];
  return (entry.revents & (POLLOUT | POLLHUP | POLLERR)) != 0;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string resolve(const std::string& host) {
  const address_list found(host, 0);
  return numeric(found.first()->ai_addr, found.first()->ai_addrlen, false);
}

std::string reachable_address() {
  try {
    std::string address = resolve(host_name());
    if (!address.starts_with("127.") && address != "::1") return address;
  } catch (const error&) {  // the networks are asked themselves
  }
  ifaddrs* all = nullptr;
  std::string address;
  if (::getifaddrs(&all) == 0) {
    for (const int family : {AF_INET, AF_INET6}) {
      for (const ifaddrs* one = all; one != nullptr && address.empty(); one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
        if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
        address = numeric(one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6), false);
        if (address.starts_with("fe80")) address.clear();  // means something on that link only
      }
    }
    ::freeifaddrs(all);
  }
  if (address.empty())
    throw error(errc::not_found, "this machine has no address by which others could reach it; is its network up?");
  return address;
}

}  // namespace shoal::machine

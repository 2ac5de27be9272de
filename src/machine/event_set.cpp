// SPDX-License-Identifier: Apache-2.0
#include "machine/event_set.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_most_at_once = 16;

int checked(int result, const char* what) {
  if (result >= 0) return result;
  throw error(errc::system, fmt::format("cannot {}: {}; check ulimit -n", what, std::strerror(errno)));
}

}  // namespace

event_set::event_set() : set_(checked(above_standard(::epoll_create1(EPOLL_CLOEXEC)), "make a set of events")) {}

void event_set::add(int descriptor, std::uint32_t number) {
  epoll_event wanted{};
  wanted.events = EPOLLONESHOT;
  wanted.data.u64 = number;
  checked(::epoll_ctl(set_.number(), EPOLL_CTL_ADD, descriptor, &wanted), "watch a descriptor");
}

void event_set::arm(int descriptor, std::uint32_t number) noexcept {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLONESHOT;
  wanted.data.u64 = number;
  const int result = ::epoll_ctl(set_.number(), EPOLL_CTL_MOD, descriptor, &wanted);
  SHOAL_ASSERT(result == 0, "only what was added is armed");
}

std::span<const std::uint32_t> event_set::take(std::span<std::uint32_t> room) noexcept {
  std::array<epoll_event, k_most_at_once> got{};
  const auto most = static_cast<int>(std::min(room.size(), got.size()));
  int ready = 0;
  do {
    ready = ::epoll_wait(set_.number(), got.data(), most, 0);
  } while (ready < 0 && errno == EINTR);
  SHOAL_ASSERT(ready >= 0, "a set of events can be asked");
  for (std::size_t i = 0; i < static_cast<std::size_t>(ready); ++i)
    room[i] = static_cast<std::uint32_t>(got[i].data.u64);
  return room.first(static_cast<std::size_t>(ready));
}

}  // namespace shoal::machine

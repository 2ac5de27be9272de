// SPDX-License-Identifier: Apache-2.0
#include "machine/event_set.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

constexpr std::uint64_t k_stop = ~std::uint64_t{0};

int checked(int result, const char* what) {
  if (result >= 0) return result;
  throw error(errc::system, fmt::format("cannot {}: {}; check ulimit -n", what, std::strerror(errno)));
}

}  // namespace

event_set::event_set() : set_(checked(::epoll_create1(EPOLL_CLOEXEC), "make a set of events")) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u64 = k_stop;
  checked(::epoll_ctl(set_.number(), EPOLL_CTL_ADD, stop_.descriptor(), &wanted), "watch an event");
}

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

std::optional<std::uint32_t> event_set::wait() noexcept {
  epoll_event got{};
  int ready = 0;
  do {
    ready = ::epoll_wait(set_.number(), &got, 1, -1);
  } while (ready < 0 && errno == EINTR);
  SHOAL_ASSERT(ready == 1, "waiting without a limit ends with an event");
  if (got.data.u64 == k_stop) return std::nullopt;
  return static_cast<std::uint32_t>(got.data.u64);
}

void event_set::stop() noexcept { stop_.wake(); }

}  // namespace shoal::machine

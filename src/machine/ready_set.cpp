// SPDX-License-Identifier: Apache-2.0
#include "machine/ready_set.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::machine {
namespace {

epoll_event wanted_event(std::uint64_t tag, bool read, bool write) noexcept {
  epoll_event wanted{};
  wanted.events = (read ? std::uint32_t{EPOLLIN} : 0U) | (write ? std::uint32_t{EPOLLOUT} : 0U);
  wanted.data.u64 = tag;
  return wanted;
}

}  // namespace

struct ready_set::kernel_events {
  explicit kernel_events(std::size_t most) : all(most) {}
  std::vector<epoll_event> all;
};

ready_set::ready_set(std::size_t most_at_once)
    : set_(above_standard(::epoll_create1(EPOLL_CLOEXEC))), got_(std::make_unique<kernel_events>(most_at_once)) {
  if (!set_.open()) throw error(errc::system, "cannot wait for many descriptors; check ulimit -n");
}

ready_set::~ready_set() = default;

void ready_set::add(int descriptor, std::uint64_t tag, bool read, bool write) {
  epoll_event wanted = wanted_event(tag, read, write);
  if (::epoll_ctl(set_.number(), EPOLL_CTL_ADD, descriptor, &wanted) != 0)
    throw error(errc::system, fmt::format("cannot wait for one more descriptor: {}; see "
                                          "/proc/sys/fs/epoll/max_user_watches",
                                          std::strerror(errno)));
}

void ready_set::change(int descriptor, std::uint64_t tag, bool read, bool write) noexcept {
  epoll_event wanted = wanted_event(tag, read, write);
  const int result = ::epoll_ctl(set_.number(), EPOLL_CTL_MOD, descriptor, &wanted);
  SHOAL_ASSERT(result == 0, "only what was added is changed");
}

std::span<const ready_set::event> ready_set::wait(std::int64_t timeout_ns) noexcept {
  events_.clear();
  pollfd any{set_.number(), POLLIN, 0};  // its time is in nanoseconds
  if (poll_for({&any, 1}, timeout_ns) <= 0) return {};
  const int ready = ::epoll_wait(set_.number(), got_->all.data(), static_cast<int>(got_->all.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& one = got_->all[static_cast<std::size_t>(i)];
    const bool ended = (one.events & (EPOLLHUP | EPOLLERR)) != 0;
    events_.push_back({one.data.u64, ended || (one.events & EPOLLIN) != 0, ended || (one.events & EPOLLOUT) != 0});
  }
  return events_;
}

}  // namespace shoal::machine

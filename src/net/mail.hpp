// SPDX-License-Identifier: Apache-2.0
// Short messages between workers whose nodes share memory. Each leaves at once, alone: a cache line where it fits into
// one, instead of a buffer that collects many. Every worker has one ring that all others write to.
// Who may call: a port its worker; mail_in::seems_available() also another thread while that worker sleeps. Nothing
// switches tasks.
// Guarantees: messages of one worker to another arrive whole and in order; the ring is bounded. post() wakes the receiver
// if it is parked. A peer that is not written to takes no memory. Tests: tests/unit/remote/mailbox_test.cpp; the
// protocol: tests/model/record_ring_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "lockfree/doorbell.hpp"
#include "lockfree/record_ring.hpp"
#include "machine/executor.hpp"
#include "machine/zero_array.hpp"

namespace shoal::net {

struct alignas(lockfree::k_cache_line_bytes) mail_cell {
  std::atomic<std::uint64_t> head{0};
  std::uint64_t words[7];
};
static_assert(sizeof(mail_cell) == lockfree::k_cache_line_bytes);

/// What all workers of a world have one of, in memory of zeros.
struct mail_ring {
  static constexpr std::uint64_t k_cells = 4096;
  lockfree::record_ring_control<> control;
  mail_cell cells[k_cells];
};

/// How a sleeper is woken.
struct mail_bell {
  lockfree::doorbell<>* bell = nullptr;
  machine::executor* executor = nullptr;
  bool between_processes = false;
  void ring() const noexcept {
    if (bell->ring()) executor->wake(bell->word(), 1, between_processes);
  }
};

/// Most words of a message.
inline constexpr std::uint64_t k_most_mail_words = 2048;
constexpr std::uint64_t mail_cells_of(std::uint64_t words) noexcept { return (1 + words + 7) / 8; }
static_assert(mail_cells_of(k_most_mail_words) <= mail_ring::k_cells / 4);
static_assert(k_most_mail_words <= lockfree::record_head::k_most);

class mail_out {
public:
  mail_out(mail_ring& ring, const mail_bell& bell) noexcept
      : ring_(ring.control, ring.cells, ring.k_cells), bell_(bell) {}
  /// Room for a message of so many words, at least 1; nullptr: the receiver has not taken enough of those before it.
  std::uint64_t* begin(std::uint64_t words) noexcept {
    position_ = ring_.reserve(mail_cells_of(words));
    if (position_ == ring_.k_no_room) return nullptr;
    words_ = words;
    return ring_.cell(position_).words;
  }
  /// Sends what begin() has given room for, and the caller has filled.
  void post() noexcept {
    ring_.publish(position_, words_);
    bell_.ring();
  }
  /// Of the message between begin() and post(): its size, and its place in the ring, which names it.
  std::uint64_t words() const noexcept { return words_; }
  std::uint64_t position() const noexcept { return position_; }
  bool has_room(std::uint64_t words) noexcept { return ring_.has_room_for(mail_cells_of(words)); }

private:
  lockfree::record_ring_producer<mail_cell> ring_;
  mail_bell bell_;
  std::uint64_t position_ = 0;
  std::uint64_t words_ = 0;
};

class mail_in {
public:
  explicit mail_in(mail_ring& ring) noexcept : ring_(ring.control, ring.cells, ring.k_cells) {}
  /// The oldest message; empty: none.
  std::span<const std::uint64_t> front() noexcept {
    const std::uint64_t words = ring_.front();
    return {ring_.cell().words, words};
  }
  /// Gives the message of front() back.
  void release(std::uint64_t words) noexcept { ring_.release(mail_cells_of(words)); }
  bool seems_available() const noexcept { return ring_.seems_available(); }
  /// The place in the ring of the message of front(), as its sender's position().
  std::uint64_t position() const noexcept { return ring_.position(); }

private:
  lockfree::record_ring_consumer<mail_cell> ring_;
};

/// A worker's.
class mail_port {
public:
  /// Makes the way to a worker when it is used first.
  using maker = mail_out (*)(const void* world, unsigned node, unsigned worker) noexcept;

  mail_port(mail_ring& own, unsigned nodes, unsigned workers_per_node, const void* world, maker how)
      : in(own), workers_(workers_per_node), world_(world), make_(how), out_(std::size_t{nodes} * workers_per_node) {}
  mail_in in;
  mail_out& to(unsigned node, unsigned worker) noexcept {
    place& p = out_[std::size_t{node} * workers_ + worker];
    if (!p.is_made()) [[unlikely]]
      make(p, node, worker);
    return p.get();
  }

private:
  static_assert(std::is_trivially_destructible_v<mail_out>);
  using place = machine::made_later<mail_out>;
  [[gnu::cold, gnu::noinline]] void make(place& p, unsigned node, unsigned worker) noexcept {
    p.make(make_(world_, node, worker));
  }

  unsigned workers_;  // of each node
  const void* world_;
  maker make_;
  machine::zero_array<place> out_;  // by node and worker
};

}  // namespace shoal::net

// SPDX-License-Identifier: Apache-2.0
// The index protocol of a ring of fixed-size slots with one producer and one consumer, in memory that processes share.
// It hands out slot numbers; where the slots are and what is in them is the caller's. Nothing waits or switches tasks.
// Guarantees: between fill_index() and publish() the slot belongs to the producer, between a positive available() and
// release() front_index() belongs to the consumer, and what one wrote the other sees. consumed() counts the slots whose
// release() was called, and all that their consumer did before is visible to whoever reads it: an acknowledgement.
// A control block of zeros is an empty ring. Counters are 64 bits wide and never wrap. Each side may detach and attach
// again (its object then continues from the control block). No defence against a peer that writes nonsense.
// Lamport, "Specifying concurrent program modules" (1983); cached counters after Giacomoni et al., FastForward.
// Shown by tests/model/slot_ring_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
struct slot_ring_control {
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> published{0};  // written by the producer
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> consumed{0};   // written by the consumer
};
static_assert(sizeof(slot_ring_control<>) == 2 * k_cache_line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share the counters");

template <class Atomics = std_atomics>
class slot_ring_producer {
public:
  slot_ring_producer() = default;  // attached to nothing; assign before use
  // `slot_count` is a power of two and the same on both sides.
  slot_ring_producer(slot_ring_control<Atomics>& control, std::size_t slot_count)
      : control_(&control),
        slot_count_(slot_count),
        published_(control.published.load(std::memory_order_relaxed)),
        consumed_seen_(control.consumed.load(std::memory_order_acquire)) {}

  // Looks at the consumer's counter only when the ring seems full.
  bool has_room() { return published_ - consumed_seen_ < slot_count_ || published_ - consumed() < slot_count_; }

  // The slot to fill next; it is the producer's while has_room().
  std::size_t fill_index() const { return static_cast<std::size_t>(published_) & (slot_count_ - 1); }

  // Partner of the release: available().
  void publish() { control_->published.store(++published_, std::memory_order_release); }

  std::uint64_t published() const { return published_; }

  // Partner of the acquire: release(). Its slots may be overwritten, and what their consumer did is visible.
  std::uint64_t consumed() { return consumed_seen_ = control_->consumed.load(std::memory_order_acquire); }

private:
  slot_ring_control<Atomics>* control_ = nullptr;
  std::uint64_t slot_count_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t consumed_seen_ = 0;
};

template <class Atomics = std_atomics>
class slot_ring_consumer {
public:
  slot_ring_consumer() = default;  // attached to nothing; assign before use
  slot_ring_consumer(slot_ring_control<Atomics>& control, std::size_t slot_count)
      : control_(&control),
        slot_count_(slot_count),
        consumed_(control.consumed.load(std::memory_order_relaxed)),
        published_seen_(consumed_) {}

  // How many slots are filled, at least; looks at the producer's counter only when none is known of.
  // Partner of the acquire: publish().
  std::uint64_t available() {
    if (published_seen_ == consumed_) published_seen_ = control_->published.load(std::memory_order_acquire);
    return published_seen_ - consumed_;
  }

  // Whether available() would say so, for whoever is not the consumer now (a sibling may be): touches what is shared
  // alone. The order is the asker's business: before it sleeps it has fenced, and the producer rings after publish().
  bool seems_available() const {
    return control_->published.load(std::memory_order_relaxed) != control_->consumed.load(std::memory_order_relaxed);
  }

  // The oldest filled slot; the consumer's while available() > 0. `ahead` < available() slots further on, for
  // prefetching.
  std::size_t front_index(std::uint64_t ahead = 0) const {
    return static_cast<std::size_t>(consumed_ + ahead) & (slot_count_ - 1);
  }

  // Gives the front slot back. Partner of the release: consumed().
  void release() { control_->consumed.store(++consumed_, std::memory_order_release); }

  std::uint64_t consumed() const { return consumed_; }

private:
  slot_ring_control<Atomics>* control_ = nullptr;
  std::uint64_t slot_count_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t published_seen_ = 0;
};

}  // namespace shoal::lockfree

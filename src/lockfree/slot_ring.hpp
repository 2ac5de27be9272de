// SPDX-License-Identifier: Apache-2.0
// The index protocol of a ring of fixed-size slots with one producer and one consumer, in memory that processes may
// share. It returns slot numbers; the caller owns the slots and their contents. Nothing waits or switches tasks.
// Guarantees: between fill_index() and publish() the slot belongs to the producer; between a positive available() and
// release() the slot front_index() belongs to the consumer. Each side sees the writes of the other. consumed() counts
// the slots that the consumer released; a reader of it sees all that the consumer did before: it is an acknowledgement.
// A control block of zeros is an empty ring. Counters have 64 bits and never wrap. Each side may detach and attach
// again; the new object continues from the control block. There is no protection against a peer that writes wrong
// values.
// Lamport, "Specifying concurrent program modules" (1983); cached counters after Giacomoni et al., FastForward.
// Tests: tests/model/slot_ring_test.cpp, tests/stress/lockfree_test.cpp.
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

  // Reads the consumer's counter only if the ring seems full.
  bool has_room() {
    return published_ - consumed_seen_ < slot_count_ || published_ - (consumed_seen_ = consumed()) < slot_count_;
  }

  // The slot to fill next; it belongs to the producer while has_room().
  std::size_t fill_index() const { return static_cast<std::size_t>(published_) & (slot_count_ - 1); }

  // Partner of the release: available().
  void publish() { control_->published.store(++published_, std::memory_order_release); }

  std::uint64_t published() const { return published_; }

  // Partner of the acquire: release(). The released slots may be overwritten, and the consumer's effects are visible.
  // Any thread may call it while the producer exists: it changes nothing.
  std::uint64_t consumed() const { return control_->consumed.load(std::memory_order_acquire); }

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

  // A lower bound of the number of filled slots; reads the producer's counter only if no filled slot is known. Partner
  // of the acquire: publish().
  std::uint64_t available() {
    if (published_seen_ == consumed_) published_seen_ = control_->published.load(std::memory_order_acquire);
    return published_seen_ - consumed_;
  }

  // As available() > 0, for a thread that is not the consumer now (a sibling may be): reads only shared data. The
  // caller must order it: before it sleeps it executes a fence, and the producer rings after publish().
  bool seems_available() const {
    return control_->published.load(std::memory_order_relaxed) != control_->consumed.load(std::memory_order_relaxed);
  }

  // The oldest filled slot; it belongs to the consumer while available() > 0. `ahead` < available(): a later slot, for
  // prefetching.
  std::size_t front_index(std::uint64_t ahead = 0) const {
    return static_cast<std::size_t>(consumed_ + ahead) & (slot_count_ - 1);
  }

  // Releases the front slot. Partner of the release: consumed().
  void release() { control_->consumed.store(++consumed_, std::memory_order_release); }

  std::uint64_t consumed() const { return consumed_; }

private:
  slot_ring_control<Atomics>* control_ = nullptr;
  std::uint64_t slot_count_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t published_seen_ = 0;
};

}  // namespace shoal::lockfree

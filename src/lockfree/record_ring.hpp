// SPDX-License-Identifier: Apache-2.0
// The index protocol of a ring of records from many producers to one consumer, in memory that processes may share. A
// record takes some cells in a row; the first cell's head says that it is complete, and how long it is. The caller owns
// the cells and their contents. Nothing waits or switches tasks.
// Guarantees: between reserve() and publish() the cells belong to the producer; between a positive front() and release()
// to the consumer, which sees what the producer wrote. Records of one producer come in their order. Cells of zeros are an
// empty ring. A producer that stops between reserve() and publish() stops the consumer there. Contents may overwrite the
// heads of all cells of a record but the first; release() clears them.
// Cost: one compare-and-swap and one cache line for a record of one cell; the consumer says what it has released once for
// a quarter of the ring, so a record may take half of it.
// After Vyukov's bounded queue. Tests: tests/model/record_ring_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
struct record_ring_control {
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> reserved{0};  // written by producers
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> released{0};  // written by the consumer
};

// What a head holds: the number of its cell since the beginning, and the size of the record; 0: it only fills the ring up
// to its end.
class record_head {
public:
  static constexpr unsigned k_size_bits = 16;
  static constexpr std::uint64_t k_most = (std::uint64_t{1} << k_size_bits) - 1;
  static constexpr std::uint64_t k_none = ~std::uint64_t{0};

  static constexpr std::uint64_t of(std::uint64_t position, std::uint64_t size) noexcept {
    return (position + 1) << k_size_bits | size;
  }
  // k_none: the head is not that of `position`.
  static constexpr std::uint64_t size(std::uint64_t head, std::uint64_t position) noexcept {
    return head >> k_size_bits == position + 1 ? head & k_most : k_none;
  }
};

// `Cell` has a member `head`, an atomic std::uint64_t.
template <class Cell, class Atomics = std_atomics>
class record_ring_producer {
public:
  static constexpr std::uint64_t k_no_room = ~std::uint64_t{0};

  record_ring_producer() = default;  // attached to nothing; assign before use
  // `count` is a power of two and the same on all sides.
  record_ring_producer(record_ring_control<Atomics>& control, Cell* cells, std::uint64_t count) noexcept
      : control_(&control), cells_(cells), count_(count) {}

  // The position of so many cells in a row, at most half of the ring. What is left in front of the ring's end, if that is
  // too little, is filled.
  std::uint64_t reserve(std::uint64_t cells) {
    // Only the cells' numbers are handed out here: relaxed.
    std::uint64_t at = control_->reserved.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t rest = count_ - (at & (count_ - 1));
      const std::uint64_t fill = rest < cells ? rest : 0;
      if (!has_room(at, fill + cells)) return k_no_room;
      if (!control_->reserved.compare_exchange_weak(at, at + fill + cells, std::memory_order_relaxed,
                                                    std::memory_order_relaxed))
        continue;
      if (fill != 0) publish(at, 0);
      return at + fill;
    }
  }
  bool has_room_for(std::uint64_t cells) {
    const std::uint64_t at = control_->reserved.load(std::memory_order_relaxed);
    const std::uint64_t rest = count_ - (at & (count_ - 1));
    return has_room(at, cells + (rest < cells ? rest : 0));
  }

  Cell& cell(std::uint64_t position) const noexcept { return cells_[position & (count_ - 1)]; }

  // `size`, from 1 to record_head::k_most, is for the consumer. Partner of the release: front().
  void publish(std::uint64_t position, std::uint64_t size) {
    cell(position).head.store(record_head::of(position, size), std::memory_order_release);
  }

private:
  // Reads the consumer's counter only if the ring seems full. Partner of the acquire: release(). The released cells may
  // be overwritten. An `at` that is out of date may lie behind them: then it is not what is reserved.
  bool has_room(std::uint64_t at, std::uint64_t cells) {
    const auto fits = [&] { return static_cast<std::int64_t>(at + cells - released_seen_ - count_) <= 0; };
    if (fits()) return true;
    released_seen_ = control_->released.load(std::memory_order_acquire);
    return fits();
  }

  record_ring_control<Atomics>* control_ = nullptr;
  Cell* cells_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t released_seen_ = 0;
};

template <class Cell, class Atomics = std_atomics>
class record_ring_consumer {
public:
  record_ring_consumer() = default;  // attached to nothing; assign before use
  record_ring_consumer(record_ring_control<Atomics>& control, Cell* cells, std::uint64_t count) noexcept
      : control_(&control), cells_(cells), count_(count) {}

  // The size of the oldest record; 0: none is complete. Partner of the acquire: publish().
  std::uint64_t front() {
    for (;;) {
      const std::uint64_t size = record_head::size(cell(position_).head.load(std::memory_order_acquire), position_);
      if (size == record_head::k_none) return 0;
      if (size != 0) return size;
      release(count_ - (position_ & (count_ - 1)));
    }
  }

  // As front() != 0, for whoever knows that the consumer does not run; for the consumer before it sleeps, too: it
  // executes a fence first, and the producer rings after publish().
  bool seems_available() const {
    return record_head::size(cell(position_).head.load(std::memory_order_relaxed), position_) != record_head::k_none;
  }

  // Where the oldest record begins, as its producer's reserve() has said.
  std::uint64_t position() const noexcept { return position_; }
  // The first cell of the oldest record.
  Cell& cell() const noexcept { return cell(position_); }

  // Gives the record at the front back, of so many cells. Partner of the release: has_room().
  void release(std::uint64_t cells) {
    // Contents in place of a head could look like one later.
    for (std::uint64_t i = 1; i < cells; ++i) cell(position_ + i).head.store(0, std::memory_order_relaxed);
    position_ += cells;
    if (position_ - told_ < count_ / 4) return;
    told_ = position_;
    control_->released.store(position_, std::memory_order_release);
  }

private:
  Cell& cell(std::uint64_t position) const noexcept { return cells_[position & (count_ - 1)]; }

  record_ring_control<Atomics>* control_ = nullptr;
  Cell* cells_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace shoal::lockfree

// SPDX-License-Identifier: Apache-2.0
// Who holds a node's memory: its global arrays one by one, the tables of containers, copies for checkpoints; now, and
// at most so far. The rest of shoal/memory_use.hpp is asked of those who have it: see memory_survey.hpp.
// Who may call: any thread, when memory is taken or given back; takes a lock, never held over a wait. Never switches
// tasks. Tests: tests/unit/array/memory_ledger_test.cpp, tests/cluster/memory_use_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "shoal/detail/array_layout.hpp"
#include "shoal/memory_use.hpp"

namespace shoal::array {

/// An amount that any thread changes.
class counted_memory {
public:
  void take(std::uint64_t bytes) noexcept {
    const std::uint64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t most = most_.load(std::memory_order_relaxed);  // partners: other threads that take
    while (most < now && !most_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  void give_back(std::uint64_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  memory_amount amount() const noexcept {
    return {bytes_.load(std::memory_order_relaxed), most_.load(std::memory_order_relaxed)};
  }

private:
  std::atomic<std::uint64_t> bytes_{0};  // partners: whoever takes, gives back and reports
  std::atomic<std::uint64_t> most_{0};
};

class memory_ledger {
public:
  struct taken {
    std::uint64_t bytes = 0;       // of its pages
    std::uint64_t huge_bytes = 0;  // of these, on pages of 2 MiB or more
    std::uint64_t page_bytes = 0;  // that most of it is on
  };
  /// A part that the node has taken memory for.
  void enter(const detail::array_layout& layout, const detail::allocation_label& label, const taken& memory);
  /// Also of one that was not entered.
  void remove(const detail::array_layout& layout) noexcept;

  counted_memory& copies() noexcept { return copies_; }

  detail::memory_meter_entry& add_meter(detail::container_kind what, const detail::allocation_label& label);
  void remove_meter(detail::memory_meter_entry& e) noexcept;

  /// Adds what it knows.
  void report(memory_usage& to) const;
  /// For the message of a refusal: "node 1 holds 3 global arrays of 1.0 GiB, 1.2 GiB at most so far; the largest: ...".
  std::string text(std::uint32_t node) const;

private:
  friend class detail::memory_meter_entry;
  struct held_array {
    detail::allocation_label label;
    taken memory;
    std::uint64_t size = 0;
    std::uint64_t element_bytes = 0;
  };

  mutable std::mutex lock_;                     // of the two collections
  std::map<std::uint32_t, held_array> arrays_;  // by slot
  std::list<detail::memory_meter_entry> meters_;
  counted_memory of_arrays_;
  counted_memory of_meters_;
  counted_memory copies_;
};

}  // namespace shoal::array

namespace shoal::detail {

class memory_meter_entry {
public:
  memory_meter_entry(array::memory_ledger& of, container_kind what, const allocation_label& label)
      : ledger_(of), what_(what), label_(label) {}

  void take(std::uint64_t bytes) noexcept {
    memory_.take(bytes);
    ledger_.of_meters_.take(bytes);
  }
  void give_back(std::uint64_t bytes) noexcept {
    memory_.give_back(bytes);
    ledger_.of_meters_.give_back(bytes);
  }
  array::memory_ledger& ledger() const noexcept { return ledger_; }
  memory_holder holder() const;

private:
  array::memory_ledger& ledger_;
  container_kind what_;
  allocation_label label_;
  array::counted_memory memory_;
};

}  // namespace shoal::detail

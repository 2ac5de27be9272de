// SPDX-License-Identifier: Apache-2.0
// A node's part of a container: hash tables behind locks, many more than workers, so that two seldom meet.
// Who may call: tasks and handlers of the node, on any worker. Never switches tasks: the locks are held for one access,
// and a worker that meets another spins, then sleeps.
// Guarantees: what runs in with() is alone with its key. with() inside of with(), also of another container, ends the
// program: two workers that take the same two locks, each in another order, would wait for each other. Bits of the
// hash: 0-15 the table, 16-43 the slot, 44-50 the tag, the highest the node.
// Shown by tests/cluster/containers_test.cpp, tests/stress/hash_shard_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/hash_table.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/detail/table_memory.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/locks/tas.hpp"

namespace shoal::detail {

/// Whether a lock of any shard is held. Nobody switches tasks meanwhile.
inline bool& this_thread_holds() noexcept {
  static thread_local bool holds = false;
  return holds;
}

template <class Key, class Value, class Hash>
class hash_shard {
public:
  using table = hash_table<Key, Value, Hash>;
  using entry = typename table::entry;

  /// `expected`: entries on all nodes together, a hint that saves growth; 0: unknown. Its memory is counted.
  hash_shard(std::uint64_t expected, container_kind kind, const allocation_label& label)
      : hash_shard(worker_here().siblings, expected == 0 ? 0 : expected / port_here().nodes + 1,
                   std::make_unique<memory_meter>(kind, label)) {}
  /// `expected`: entries in this shard.
  hash_shard(unsigned workers, std::uint64_t expected, std::unique_ptr<memory_meter> meter = nullptr)
      : mask_(
            std::bit_ceil(std::clamp<std::uint64_t>(
                std::max<std::uint64_t>(8 * workers, expected / k_entries_per_table), k_fewest_tables, k_most_tables)) -
            1),
        meter_(std::move(meter)),
        stripes_(new stripe[mask_ + 1]) {
    for (std::size_t n = 0; n < tables(); ++n) {
      stripes_[n].keys.use(memory_);
      stripes_[n].keys.count_with(meter_.get());
    }
    if (meter_ != nullptr) meter_->take(tables() * sizeof(stripe));
    if (expected > 0) reserve(expected);
  }

  std::size_t tables() const noexcept { return mask_ + 1; }

  /// f(table&), alone with all keys of the table that this hash has.
  template <class F>
  auto with(std::uint64_t hash, const F& f) -> std::invoke_result_t<const F&, table&> {
    return with_table(hash & mask_, f);
  }
  /// The same for the n-th table.
  template <class F>
  auto with_table(std::size_t n, const F& f) -> std::invoke_result_t<const F&, table&> {
    stripe& s = stripes_[n];
    const holding hold(s);
    return f(s.keys);
  }
  /// Some accesses ahead. Not the lock: where several workers prefetch locks, they take them from each other.
  void prefetch(std::uint64_t hash) const noexcept { stripes_[hash & mask_].keys.prefetch(hash); }

  void reserve(std::uint64_t entries) {
    const std::uint64_t each = entries / tables();
    for (std::size_t n = 0; n < tables(); ++n)
      with_table(n, [each](table& t) { t.reserve(each + each / 16 + 16); });  // they differ a little
  }
  std::uint64_t size() {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n < tables(); ++n) sum += with_table(n, [](table& t) { return t.size(); });
    return sum;
  }
  std::uint64_t bytes() {
    std::uint64_t sum = tables() * sizeof(stripe);
    for (std::size_t n = 0; n < tables(); ++n) sum += with_table(n, [](table& t) { return t.bytes(); });
    return sum;
  }
  void clear() {
    for (std::size_t n = 0; n < tables(); ++n) with_table(n, [](table& t) { t.clear(); });
  }

private:
  static constexpr std::uint64_t k_entries_per_table = 8192;
  static constexpr std::uint64_t k_fewest_tables = 16;
  static constexpr std::uint64_t k_most_tables = 1 << 16;

  // The lock has a line of its own: every access writes it, but most only read the table's own words.
  struct alignas(64) stripe {
    tas_lock<> lock;
    alignas(64) table keys;
  };
  class holding {
  public:
    explicit holding(stripe& s) : s_(s) {
      const tsan_ignore_scope ignore;  // the flag belongs to the thread; TSan takes its stacks for threads
      SHOAL_ASSERT(
          !std::exchange(this_thread_holds(), true),
          "a function that a container calls for an entry uses a bare verb of this container or of another one: "
          "begin the second access after the first, or use an async_ verb");
      if (!s.lock.try_lock()) [[unlikely]]
        s.lock.lock();
    }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;
    ~holding() {
      s_.lock.unlock();
      const tsan_ignore_scope ignore;
      this_thread_holds() = false;
    }

  private:
    stripe& s_;
  };

  std::uint64_t mask_;
  table_memory memory_;  // before what uses it
  std::unique_ptr<memory_meter> meter_;
  std::unique_ptr<stripe[]> stripes_;
};

}  // namespace shoal::detail

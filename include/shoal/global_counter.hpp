// SPDX-License-Identifier: Apache-2.0
// Counts of keys over all nodes: a hash map from keys to numbers that is made for adding. Each worker counts repeated
// keys in a small table of its own and sends a key and its count when others need the place.
//   shoal::global_counter<std::string> words;
//   shoal::parallel_for(shoal::everywhere, n, [c = words.ref()](std::uint64_t i) { c.async_add(word(i)); });
//   for (const auto& [word, count] : words->top_k(10)) ...
// Who may call: tasks; async_add() handlers, too. Bare verbs switch tasks, async_add() only when buffers are full.
// Guarantees: async_add() is complete after wait(), or the end of the task or loop; what handlers begin, after
// quiesce(). Counts are 64 bits and wrap. A key that was never counted, or only 0 times, is absent.
// Keys, errors: as shoal/global_map.hpp. Memory: 100 KB per worker that counts. Complexity: expected O(1); one message
// per key that leaves a table, which share a header. Shown by tests/cluster/counter_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "shoal/detail/container.hpp"
#include "shoal/detail/map_operations.hpp"
#include "shoal/detail/most_frequent.hpp"
#include "shoal/detail/settled_end.hpp"
#include "shoal/detail/withheld_counts.hpp"
#include "shoal/global_map.hpp"
#include "shoal/memory_use.hpp"

namespace shoal {

/// The handle: trivially copyable, 16 bytes; valid while the counter exists.
template <class Key, class Hash = hash<Key>>
class counter_ref {
  static_assert(serializable<Key>);
  using operations = detail::map_operations<Key, std::uint64_t, Hash>;
  using shard = typename operations::shard;
  using by_worker = detail::counts_of_workers<Key, Hash>;

public:
  counter_ref() = default;
  counter_ref(node_local_ref<shard> shards, node_local_ref<by_worker> withheld) noexcept
      : shards_(shards), withheld_(withheld) {}

  /// The node that holds a key, present or not. Does not switch.
  std::uint32_t owner(const Key& key) const noexcept { return detail::key_owner(Hash()(key)); }

  /// The key was seen `n` times more.
  void async_add(const Key& key, std::uint64_t n = 1) const {
    if (n == 0) return;
    detail::worker_base& w = detail::worker_here();
    const std::uint64_t hash = Hash()(key);
    if (detail::is_for_handlers(*w.port)) [[unlikely]]
      return detail::async_invoke<typename operations::add>(shards_, detail::key_owner(hash), key, n);
    withheld_->of(w).async_add(w, hash, key, n);
  }

  // --- bare verbs: what was added before, and is complete, counts --------------------------------------------------
  /// How often the key was seen; 0: never.
  std::uint64_t count(const Key& key) const { return entries().get(key).value_or(0); }
  /// counts[i] becomes that of keys[i]. All requests are in flight at once.
  void count(std::span<const Key> keys, std::span<std::uint64_t> counts) const {
    SHOAL_ASSERT(counts.size() >= keys.size(), "there are more keys than room for counts");
    detail::invoke_all<typename operations::get>(
        shards_, keys.size(), [&](std::size_t i) { return owner(keys[i]); },
        [&](std::size_t i) -> const Key& { return keys[i]; },
        [&](std::size_t i, std::optional<std::uint64_t>&& found) { counts[i] = found.value_or(0); });
  }
  /// Forgets the key; how often it was seen.
  std::uint64_t erase(const Key& key) const {
    return detail::invoke<detail::take_count<Key, Hash>>(shards_, owner(key), key);
  }

  // --- all keys: one call per node ---------------------------------------------------------------------------------
  /// Calls f(key, count) for all keys where they are, with copies, on all workers: f may wait and count.
  template <class F>
  void for_each(const F& f) const {
    entries().for_each(f);
  }
  /// The `k` most frequent keys and their counts, most frequent first; equal counts by key, or by hash if keys have no
  /// order. Memory here: k entries of each node. Each node reads all its entries.
  std::vector<std::pair<Key, std::uint64_t>> top_k(std::size_t k) const {
    return detail::most_frequent<Key, Hash>(shards_, k);
  }
  /// The sum of all counts.
  std::uint64_t total() const { return detail::sum_of_counts(shards_); }
  /// Number of keys, and bytes of their tables on all nodes.
  std::uint64_t size() const { return entries().size(); }
  std::uint64_t bytes() const { return entries().bytes(); }
  void clear() const { entries().clear(); }
  /// Makes room for so many keys on all nodes together.
  void reserve(std::uint64_t keys) const { entries().reserve(keys); }

private:
  map_ref<Key, std::uint64_t, Hash> entries() const noexcept { return map_ref<Key, std::uint64_t, Hash>(shards_); }

  node_local_ref<shard> shards_;
  node_local_ref<by_worker> withheld_;
};

/// Owns the keys; move-only. Destruction waits for what tasks have begun; after handlers, quiesce() first.
template <class Key, class Hash = hash<Key>>
class global_counter {
  using shard = detail::hash_shard<Key, std::uint64_t, Hash>;

public:
  using ref_type = counter_ref<Key, Hash>;

  /// `expected`: different keys on all nodes together; a hint, 0: unknown. `name`: in reports of memory. Switches tasks.
  explicit global_counter(std::uint64_t expected = 0, std::string_view name = {}, code_place where = code_place::here())
      : global_counter(expected, detail::allocation_label(name, where)) {}
  global_counter(global_counter&&) noexcept = default;
  global_counter& operator=(global_counter&& other) noexcept {
    if (this == &other) return *this;
    end_ = std::move(other.end_);  // first: it waits for what is on its way to the keys
    withheld_ = std::move(other.withheld_);
    shards_ = std::move(other.shards_);
    ref_ = other.ref_;
    return *this;
  }

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }

private:
  global_counter(std::uint64_t expected, const detail::allocation_label& label)
      : shards_(label, expected, detail::container_kind::counter, label),
        withheld_(shards_.ref()),
        ref_(shards_.ref(), withheld_.ref()) {}

  node_local<shard> shards_;
  node_local<detail::counts_of_workers<Key, Hash>> withheld_;
  ref_type ref_;
  detail::settled_end end_;  // the last member: it ends first
};

}  // namespace shoal

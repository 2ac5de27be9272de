// SPDX-License-Identifier: Apache-2.0
// What a worker has counted for a global_counter and its owners do not have yet: the combining table, and behind it a
// window of counts for this node's own keys, so that their memory is prefetched before it is needed.
// Who may call: tasks on the worker; async_add() switches only when buffers are full, and then has no count in its
// hands.
// Guarantees: a count is in one place at any moment, so whichever task writes what is withheld, for whatever wait,
// nothing is lost or counted twice. A wait for asynchronous operations writes it first (port.hpp, withheld).
// Shown by tests/cluster/counter_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/detail/combining_table.hpp"
#include "shoal/detail/container.hpp"
#include "shoal/detail/map_operations.hpp"

namespace shoal::detail {

template <class Key, class Hash>
class withheld_counts final : public withheld {
  using operations = map_operations<Key, std::uint64_t, Hash>;
  using add_operation = typename operations::add;

public:
  using shard = typename operations::shard;

  explicit withheld_counts(node_local_ref<shard> shards) : shards_(shards), mine_(*shards) {
    write = [](withheld& w, port& p) noexcept { return static_cast<withheld_counts&>(w).write_all(p); };
  }
  ~withheld_counts() {
    SHOAL_ASSERT(!listed, "a global_counter is destroyed while tasks still count with it: let them end first");
  }

  void async_add(worker_base& w, std::uint64_t hash, const Key& key, std::uint64_t count) {
    port& p = *w.port;
    std::size_t bytes = 0;
    if constexpr (!k_fixed) {
      bytes = checked_bytes(key, count);
      if (bytes > k_longest_bytes) return async_invoke<add_operation>(shards_, key_owner(hash), key, count);
    }
    combined outcome;
    {
      const tsan_ignore_scope ignore;
      ++p.async_issued;
      outcome = table_.add(hash, key, count, sink_to(p));
      if (outcome == combined::entered) withhold(p, *this);
    }
    if (outcome == combined::refused) [[unlikely]]
      async_invoke<add_operation>(shards_, key_owner(hash), key, count);
  }

private:
  static constexpr bool k_fixed = k_has_fixed_bytes<Key>;
  static constexpr std::size_t k_longest_bytes = 256;  // of a key that may lie here
  static constexpr std::size_t k_window = 32;

  struct deferred {
    Key key{};
    std::uint64_t hash = 0;
    std::uint64_t count = 0;  // 0: none
  };

  auto sink_to(port& p) noexcept {
    return [this, &p](std::uint64_t hash, Key& key, std::uint64_t count) noexcept { return send(p, hash, key, count); };
  }

  bool send(port& p, std::uint64_t hash, Key& key, std::uint64_t count) noexcept {
    const std::uint32_t owner = key_owner(hash);
    if (owner == p.node) {
      mine_.prefetch(hash);
      deferred& oldest = window_[next_++ % k_window];
      apply(oldest);
      oldest.key = std::move(key);
      oldest.hash = hash;
      oldest.count = count;
      return true;
    }
    try {
      return try_async_invoke<add_operation>(p, shards_, owner, bytes_of(key, count), key, count);
    } catch (...) {
      refuse_exception(typeid(add_operation).name());
    }
  }

  void apply(deferred& d) noexcept {
    if (d.count == 0) return;
    try {
      mine_.with(d.hash, [&d](auto& t) {
        *t.find_or_make(d.hash, std::move(d.key), [] { return std::uint64_t{0}; }).first += d.count;
      });
    } catch (...) {
      refuse_exception(typeid(add_operation).name());
    }
    d.count = 0;
  }

  std::uint32_t write_all(port& p) noexcept {
    std::uint32_t full = k_all_written;
    const bool all = table_.write([&](std::uint64_t hash, Key& key, std::uint64_t count) noexcept {
      if (send(p, hash, key, count)) return true;
      full = key_owner(hash);
      return false;
    });
    if (!all) return full;
    for (deferred& d : window_) apply(d);
    return k_all_written;
  }

  node_local_ref<shard> shards_;
  shard& mine_;
  std::size_t next_ = 0;
  std::array<deferred, k_window> window_;
  combining_table<Key, Hash> table_;
};

/// Those of a node's workers: each makes its own at its first use.
template <class Key, class Hash>
class counts_of_workers {
public:
  using counts = withheld_counts<Key, Hash>;
  using shard = typename counts::shard;

  explicit counts_of_workers(node_local_ref<shard> shards) : shards_(shards), by_worker_(worker_here().siblings) {}

  counts& of(const worker_base& w) {
    const tsan_ignore_scope ignore;  // all tasks of the worker use it in turn
    std::unique_ptr<counts>& own = by_worker_[w.index];
    if (own == nullptr) [[unlikely]]
      own = std::make_unique<counts>(shards_);
    return *own;
  }

private:
  node_local_ref<shard> shards_;
  std::vector<std::unique_ptr<counts>> by_worker_;
};

}  // namespace shoal::detail

// SPDX-License-Identifier: Apache-2.0
// What global_counter does with all its entries: the most frequent ones, the sum, and the wait before they are
// destroyed.
// Who may call: tasks; they switch. Each node reads all its entries, on all its workers.
// Shown by tests/cluster/counter_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "shoal/detail/container.hpp"
#include "shoal/detail/map_operations.hpp"
#include "shoal/error.hpp"
#include "shoal/locks/tas.hpp"

namespace shoal::detail {

template <class Key>
using counted_key = std::pair<Key, std::uint64_t>;

/// The order of top_k().
template <class Key, class Hash>
bool is_more_frequent(const counted_key<Key>& a, const counted_key<Key>& b) {
  if (a.second != b.second) return a.second > b.second;
  if constexpr (std::totally_ordered<Key>)
    return a.first < b.first;
  else
    return Hash()(a.first) < Hash()(b.first);
}

/// The first of what it was given, in the order of top_k().
template <class Key, class Hash>
class best_keys {
public:
  explicit best_keys(std::size_t most) : most_(most) {}

  void take(const Key& key, std::uint64_t count) {
    if (most_ == 0) return;
    if (heap_.size() < most_) {
      heap_.emplace_back(key, count);
      std::ranges::push_heap(heap_, first);
    } else if (count >= heap_.front().second) {
      counted_key<Key> one(key, count);
      if (!first(one, heap_.front())) return;
      std::ranges::pop_heap(heap_, first);
      heap_.back() = std::move(one);
      std::ranges::push_heap(heap_, first);
    }
  }
  /// Whether a key with this count may be among the first.
  bool wants(std::uint64_t count) const noexcept { return heap_.size() < most_ || count >= heap_.front().second; }
  std::vector<counted_key<Key>> sorted() && {
    std::ranges::sort_heap(heap_, first);
    return std::move(heap_);
  }
  const std::vector<counted_key<Key>>& any_order() const noexcept { return heap_; }

private:
  static constexpr auto first = [](const counted_key<Key>& a, const counted_key<Key>& b) {
    return is_more_frequent<Key, Hash>(a, b);
  };
  std::size_t most_;
  std::vector<counted_key<Key>> heap_;  // the last of them in front
};

/// A node's part of top_k(), sorted.
template <class Key>
struct node_selection {
  std::vector<counted_key<Key>> keys;
};

/// A part of them, as many as a message holds.
template <class Key>
struct read_selection : at_node_local<node_selection<Key>> {
  using result = std::vector<counted_key<Key>>;
  using arguments = std::tuple<std::uint64_t>;
  static constexpr bool k_calls_program = false;
  static result run(node_selection<Key>& from, std::uint64_t&& begin) {
    constexpr std::size_t k_page_bytes = 8192;
    result page;
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < from.keys.size(); ++i) {
      bytes += bytes_of(from.keys[i]);
      if (!page.empty() && bytes > k_page_bytes) break;
      page.push_back(from.keys[i]);
    }
    return page;
  }
};

template <class Key, class Hash>
std::vector<counted_key<Key>> most_frequent(node_local_ref<hash_shard<Key, std::uint64_t, Hash>> shards,
                                            std::size_t k) {
  using shard = hash_shard<Key, std::uint64_t, Hash>;
  if (k == 0) return {};
  node_local<node_selection<Key>> selections;
  on_all_shards(shards, [k, to = selections.ref()](shard& s) {
    best_keys<Key, Hash> all(k);
    tas_lock<> lock;
    parallel_for(here, s.tables(), [&](std::size_t n) {
      best_keys<Key, Hash> some(k);
      s.with_table(n, [&](auto& t) { t.for_each([&](const auto& e) { some.take(e.key, e.value); }); });
      const std::lock_guard hold(lock);  // no wait inside
      for (const auto& [key, count] : some.any_order()) all.take(key, count);
    });
    to->keys = std::move(all).sorted();
  });
  // All nodes at once; what a node has behind its page is worth asking for while its last one may be among the first.
  best_keys<Key, Hash> all(k);
  struct question {
    std::uint32_t node;
    std::uint64_t begin;
  };
  std::vector<question> questions;
  for (std::uint32_t n = 0; n < node_count(); ++n) questions.push_back({n, 0});
  while (!questions.empty()) {
    std::vector<question> more;
    invoke_all<read_selection<Key>>(
        selections.ref(), questions.size(), [&](std::size_t i) { return questions[i].node; },
        [&](std::size_t i) -> const std::uint64_t& { return questions[i].begin; },
        [&](std::size_t i, std::vector<counted_key<Key>>&& page) {
          for (const auto& [key, count] : page) all.take(key, count);
          if (page.empty() || !all.wants(page.back().second)) return;
          more.push_back({questions[i].node, questions[i].begin + page.size()});
        });
    questions = std::move(more);
  }
  return std::move(all).sorted();
}

template <class Shard>
std::uint64_t sum_of_counts(node_local_ref<Shard> shards) {
  return sum_over_shards(shards, [](Shard& s) {
    return parallel_reduce(
        here, s.tables(), std::uint64_t{0},
        [&s](std::size_t n) {
          std::uint64_t sum = 0;
          s.with_table(n, [&sum](auto& t) { t.for_each([&sum](const auto& e) { sum += e.value; }); });
          return sum;
        },
        std::plus<>());
  });
}

/// Erases a key and gives its count.
template <class Key, class Hash>
struct take_count : map_operations<Key, std::uint64_t, Hash>::template on_key<> {
  using shard = hash_shard<Key, std::uint64_t, Hash>;
  using result = std::uint64_t;
  static result run(shard& s, Key&& key) {
    const std::uint64_t h = Hash()(key);
    return s.with(h, [&](auto& t) {
      const std::uint64_t* const at = t.find(h, key);
      const std::uint64_t count = at == nullptr ? 0 : *at;
      t.erase(h, key);
      return count;
    });
  }
};

}  // namespace shoal::detail

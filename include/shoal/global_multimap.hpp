// SPDX-License-Identifier: Apache-2.0
// A hash map over all nodes in which a key has any number of values. Who may call, guarantees, errors: as
// shoal/global_map.hpp; the values of a key are in the order in which their insertions were executed.
//   shoal::global_multimap<std::uint32_t, order> orders;
//   orders->async_insert(customer, o);
//   for (const order& o : orders->get(customer)) ...
// Complexity: insertion expected amortized O(1); get O(values), in messages of at most 8 KiB.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "shoal/detail/container.hpp"
#include "shoal/detail/multimap_operations.hpp"

namespace shoal {

/// The handle: trivially copyable, 8 bytes; valid while the multimap exists.
template <class Key, class Value, class Hash = hash<Key>>
class multimap_ref {
  static_assert(serializable<Key> && serializable<Value>);
  using operations = detail::multimap_operations<Key, Value, Hash>;
  using shard = typename operations::shard;

public:
  multimap_ref() = default;
  explicit multimap_ref(node_local_ref<shard> shards) noexcept : shards_(shards) {}

  /// The node that holds a key, present or not. Does not switch.
  std::uint32_t owner(const Key& key) const noexcept { return detail::key_owner(Hash()(key)); }

  void insert(const Key& key, const Value& value) const {
    detail::invoke<typename operations::insert>(shards_, owner(key), key, value);
  }
  void async_insert(const Key& key, const Value& value) const {
    detail::async_invoke<typename operations::insert>(shards_, owner(key), key, value);
  }
  /// All values of the key. Several messages where they are many; if others erase the key meanwhile, some of them.
  std::vector<Value> get(const Key& key) const {
    std::vector<Value> all;
    for (bool more = true; more;) {
      auto [values, left] = detail::invoke<typename operations::get>(shards_, owner(key), key, all.size());
      more = left && !values.empty();
      all.insert(all.end(), std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
    }
    return all;
  }
  /// Number of values of the key.
  std::uint64_t count(const Key& key) const {
    return detail::invoke<typename operations::count>(shards_, owner(key), key);
  }
  /// Removes the key; the number of values it had.
  std::uint64_t erase(const Key& key) const {
    return detail::invoke<typename operations::erase>(shards_, owner(key), key);
  }
  void async_erase(const Key& key) const { detail::async_invoke<typename operations::erase>(shards_, owner(key), key); }

  /// Calls f(key, values), the values a std::span, for all keys where they are, with copies, on all workers.
  template <class F>
  void for_each(const F& f) const {
    detail::visit_copies(
        shards_, [f](const Key& key, const std::vector<Value>& values) { f(key, std::span<const Value>(values)); });
  }
  /// Number of keys, and of values.
  std::uint64_t keys() const {
    return detail::sum_over_shards(shards_, [](shard& s) { return s.size(); });
  }
  std::uint64_t size() const {
    return detail::sum_over_shards(shards_, [](shard& s) {
      std::uint64_t sum = 0;
      for (std::size_t n = 0; n < s.tables(); ++n)
        s.with_table(n, [&sum](auto& t) { t.for_each([&sum](const auto& e) { sum += e.value.size(); }); });
      return sum;
    });
  }
  void clear() const {
    detail::on_all_shards(shards_, [](shard& s) { s.clear(); });
  }

private:
  node_local_ref<shard> shards_;
};

/// Owns the entries; move-only.
template <class Key, class Value, class Hash = hash<Key>>
class global_multimap {
public:
  using ref_type = multimap_ref<Key, Value, Hash>;

  /// `expected`: keys on all nodes together; a hint, 0: unknown. `name`: in reports of memory. Switches
  /// tasks.
  explicit global_multimap(std::uint64_t expected = 0, std::string_view name = {},
                           code_place where = code_place::here())
      : global_multimap(expected, detail::allocation_label(name, where)) {}

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }

private:
  global_multimap(std::uint64_t expected, const detail::allocation_label& label)
      : shards_(label, expected, detail::container_kind::multimap, label), ref_(shards_.ref()) {}

  node_local<detail::hash_shard<Key, std::vector<Value>, Hash>> shards_;
  ref_type ref_;
};

}  // namespace shoal

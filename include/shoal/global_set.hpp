// SPDX-License-Identifier: Apache-2.0
// A hash set over all nodes. Who may call, guarantees, errors: as shoal/global_map.hpp.
//   shoal::global_set<std::uint64_t> seen;
//   if (seen->insert(vertex)) visit(vertex);          // exactly one task sees true
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstdint>

#include "shoal/detail/container.hpp"
#include "shoal/detail/map_operations.hpp"

namespace shoal {

/// The handle: trivially copyable, 8 bytes; valid while the set exists.
template <class Key, class Hash = hash<Key>>
class set_ref {
  static_assert(serializable<Key>);
  using operations = detail::map_operations<Key, detail::nothing, Hash>;
  using shard = typename operations::shard;

public:
  set_ref() = default;
  explicit set_ref(node_local_ref<shard> shards) noexcept : shards_(shards) {}

  /// The node that holds a key, present or not. Does not switch.
  std::uint32_t owner(const Key& key) const noexcept { return detail::key_owner(Hash()(key)); }

  bool contains(const Key& key) const {
    return detail::invoke<typename operations::contains>(shards_, owner(key), key);
  }
  /// Whether the key is new.
  bool insert(const Key& key) const {
    return detail::invoke<typename operations::insert>(shards_, owner(key), key, detail::nothing{});
  }
  /// Whether the key was present.
  bool erase(const Key& key) const { return detail::invoke<typename operations::erase>(shards_, owner(key), key); }
  void async_insert(const Key& key) const {
    detail::async_invoke<typename operations::insert>(shards_, owner(key), key, detail::nothing{});
  }
  void async_erase(const Key& key) const { detail::async_invoke<typename operations::erase>(shards_, owner(key), key); }

  /// Calls f(key) for all keys where they are, with copies, on all workers.
  template <class F>
  void for_each(const F& f) const {
    detail::visit_copies(shards_, [f](const Key& key, detail::nothing) { f(key); });
  }
  std::uint64_t size() const {
    return detail::sum_over_shards(shards_, [](shard& s) { return s.size(); });
  }
  void clear() const {
    detail::on_all_shards(shards_, [](shard& s) { s.clear(); });
  }

private:
  node_local_ref<shard> shards_;
};

/// Owns the keys; move-only.
template <class Key, class Hash = hash<Key>>
class global_set {
public:
  using ref_type = set_ref<Key, Hash>;

  /// `expected`: keys on all nodes together; a hint, 0: unknown. `name`: in reports of memory. Switches
  /// tasks.
  explicit global_set(std::uint64_t expected = 0, std::string_view name = {}, code_place where = code_place::here())
      : global_set(expected, detail::allocation_label(name, where)) {}

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }

private:
  global_set(std::uint64_t expected, const detail::allocation_label& label)
      : shards_(label, expected, detail::container_kind::set, label), ref_(shards_.ref()) {}

  node_local<detail::hash_shard<Key, detail::nothing, Hash>> shards_;
  ref_type ref_;
};

}  // namespace shoal

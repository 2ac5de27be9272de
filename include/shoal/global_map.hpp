// SPDX-License-Identifier: Apache-2.0
// A hash map over all nodes: each key is on one of them.
//   shoal::global_map<std::string, std::uint64_t> words(1'000'000);    // expected entries, a hint
//   words->update("shoal", [](std::uint64_t& count) { return ++count; });
//   shoal::parallel_for(shoal::everywhere, n, [m = words.ref()](std::uint64_t i) { m.async_update(word(i), count_one); });
//   words->for_each([](const std::string& word, std::uint64_t count) { ... });                   // where the entries are
// Who may call: tasks; async_ verbs handlers, too. Bare verbs switch tasks, async_ verbs only when buffers are full.
// Guarantees: every operation on a key is atomic with respect to all others. async_ verbs are complete after wait(), or
// the end of the task or loop. Functions travel and run where the key is: they capture values and handles, and must not
// wait, nor use bare verbs of containers, or of arrays on other nodes. They may begin async_ operations, which quiesce()
// waits for.
// Keys and values: trivially copyable, strings, or types with a shoal::serializer (and shoal::hash); below 12 KiB.
// Errors: what a function throws arrives as shoal::remote_error, and no new key stays; async_ forms end the program.
// Complexity: expected O(1), one message and its answer. Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/container.hpp"
#include "shoal/detail/map_operations.hpp"

namespace shoal {

/// The handle: trivially copyable, 8 bytes; valid while the map exists.
template <class Key, class Value, class Hash = hash<Key>>
class map_ref {
  static_assert(serializable<Key> && serializable<Value>);
  using operations = detail::map_operations<Key, Value, Hash>;
  using shard = typename operations::shard;
  template <class F>
  using update_of = typename operations::template update<F>;
  template <class F>
  using apply_of = typename operations::template apply<F>;

public:
  map_ref() = default;
  explicit map_ref(node_local_ref<shard> shards) noexcept : shards_(shards) {}

  /// The node that holds a key, present or not. Does not switch.
  std::uint32_t owner(const Key& key) const noexcept { return detail::key_owner(Hash()(key)); }

  // --- bare verbs ----------------------------------------------------------------------------------------------------
  /// The value of the key, if it is present.
  std::optional<Value> get(const Key& key) const { return run<typename operations::get>(key); }
  bool contains(const Key& key) const { return run<typename operations::contains>(key); }
  /// Stores the value unless the key is present; whether it did.
  bool insert(const Key& key, const Value& value) const { return run<typename operations::insert>(key, value); }
  /// Stores the value; whether the key is new.
  bool put(const Key& key, const Value& value) const { return run<typename operations::put>(key, value); }
  /// Removes the key; whether it was present.
  bool erase(const Key& key) const { return run<typename operations::erase>(key); }
  /// Calls f(value&), or f(value&, is_new), where the key is, with Value{} if it is new; returns what f returns.
  template <class F>
  auto update(const Key& key, const F& f) const -> detail::result_for_value<F, Value> {
    return static_cast<detail::result_for_value<F, Value>>(run<update_of<F>>(key, f));
  }
  /// The same only if the key is present: an optional of what f returns; bool if that is void.
  template <class F>
  auto apply(const Key& key, const F& f) const {
    auto result = run<apply_of<F>>(key, f);
    if constexpr (std::is_void_v<detail::result_for_value<F, Value>>)
      return result.has_value();
    else
      return result;
  }
  /// values[i] becomes the value of keys[i]. All requests are in flight at once.
  void get(std::span<const Key> keys, std::span<std::optional<Value>> values) const {
    SHOAL_ASSERT(values.size() >= keys.size(), "there are more keys than room for values");
    detail::invoke_all<typename operations::get>(
        shards_, keys.size(), [&](std::size_t i) { return owner(keys[i]); },
        [&](std::size_t i) -> const Key& { return keys[i]; },
        [&](std::size_t i, std::optional<Value>&& value) { values[i] = std::move(value); });
  }

  // --- async verbs ---------------------------------------------------------------------------------------------------
  void async_insert(const Key& key, const Value& value) const { begin<typename operations::insert>(key, value); }
  void async_put(const Key& key, const Value& value) const { begin<typename operations::put>(key, value); }
  void async_erase(const Key& key) const { begin<typename operations::erase>(key); }
  /// value += change, from Value{} if the key is new.
  void async_add(const Key& key, const Value& change) const { begin<typename operations::add>(key, change); }
  template <class F>
  void async_update(const Key& key, const F& f) const {
    begin<update_of<F>>(key, f);
  }
  template <class F>
  void async_apply(const Key& key, const F& f) const {
    begin<apply_of<F>>(key, f);
  }

  // --- all entries: one call per node --------------------------------------------------------------------------------
  /// Calls f(key, value) for all entries where they are, with copies, on all workers: f may wait and change the map.
  /// Entries that others insert or erase meanwhile are visited or not. Memory: copies of an eighth of a node's part,
  /// or more if f waits.
  template <class F>
  void for_each(const F& f) const {
    detail::visit_copies(shards_, f);
  }
  /// Calls f(key, value&) for all entries; nobody else accesses the entry meanwhile. f must not wait; what it begins is
  /// complete after quiesce().
  template <class F>
  void update_each(const F& f) const {
    detail::visit_entries(shards_, f);
  }
  /// Number of entries, and bytes of their tables on all nodes.
  std::uint64_t size() const {
    return detail::sum_over_shards(shards_, [](shard& s) { return s.size(); });
  }
  std::uint64_t bytes() const {
    return detail::sum_over_shards(shards_, [](shard& s) { return s.bytes(); });
  }
  void clear() const {
    detail::on_all_shards(shards_, [](shard& s) { s.clear(); });
  }
  /// Makes room for so many entries on all nodes together.
  void reserve(std::uint64_t entries) const {
    detail::on_all_shards(shards_, [entries](shard& s) { s.reserve(entries / node_count() + 1); });
  }

private:
  template <class Op, class... Arguments>
  typename Op::result run(const Key& key, const Arguments&... arguments) const {
    return detail::invoke<Op>(shards_, owner(key), key, arguments...);
  }
  template <class Op, class... Arguments>
  void begin(const Key& key, const Arguments&... arguments) const {
    detail::async_invoke<Op>(shards_, owner(key), key, arguments...);
  }

  node_local_ref<shard> shards_;
};

/// Owns the entries; move-only. Whoever destroys it has waited for all operations; after handlers, with quiesce().
template <class Key, class Value, class Hash = hash<Key>>
class global_map {
public:
  using ref_type = map_ref<Key, Value, Hash>;

  /// `expected`: entries on all nodes together; a hint, 0: unknown. `name`: in reports of memory. Switches
  /// tasks.
  explicit global_map(std::uint64_t expected = 0, std::string_view name = {}, code_place where = code_place::here())
      : global_map(expected, detail::allocation_label(name, where)) {}

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }

private:
  global_map(std::uint64_t expected, const detail::allocation_label& label)
      : shards_(label, expected, detail::container_kind::map, label), ref_(shards_.ref()) {}

  node_local<detail::hash_shard<Key, Value, Hash>> shards_;
  ref_type ref_;
};

}  // namespace shoal

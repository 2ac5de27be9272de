// SPDX-License-Identifier: Apache-2.0
// What the containers with keys have in common: the owner of a key, many lookups at once, visits of all entries.
// Who may call: tasks. They switch, but for key_owner().
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/hash_shard.hpp"
#include "shoal/detail/invoke.hpp"
#include "shoal/hash.hpp"
#include "shoal/loop.hpp"
#include "shoal/node_local.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::detail {

/// The node that holds a key: from the highest bits of its hash.
inline std::uint32_t key_owner(std::uint64_t hash) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint32_t>(static_cast<wide>(hash) * port_here().nodes >> 64);
}

/// Calls f(shard) once on every node, as a task there. `f` travels: trivially copyable.
template <class Shard, class F>
void on_all_shards(node_local_ref<Shard> shards, const F& f) {
  parallel_for(everywhere, node_count(), [shards, f](std::uint64_t) { f(*shards); });
}
template <class Shard, class F>
std::uint64_t sum_over_shards(node_local_ref<Shard> shards, const F& f) {
  return parallel_reduce(
      everywhere, node_count(), std::uint64_t{0}, [shards, f](std::uint64_t) -> std::uint64_t { return f(*shards); },
      std::plus<>());
}

/// Calls f(key, value) for all entries, where they are, on all workers, with copies: `f` may wait, and change the
/// container.
template <class Shard, class F>
void visit_copies(node_local_ref<Shard> shards, const F& f) {
  on_all_shards(shards, [f](Shard& s) {
    parallel_for(here, s.tables(), [&s, &f](std::size_t n) {
      std::vector<typename Shard::entry> copies;
      s.with_table(n, [&copies](auto& t) {
        copies.reserve(t.size());
        t.for_each([&copies](const auto& e) { copies.push_back(e); });
      });
      for (const auto& e : copies) f(e.key, e.value);
    });
  });
}
/// Calls f(key, value&) for all entries, alone with each: it must not wait.
template <class Shard, class F>
void visit_entries(node_local_ref<Shard> shards, const F& f) {
  on_all_shards(shards, [f](Shard& s) {
    parallel_for(here, s.tables(), [&s, &f](std::size_t n) {
      s.with_table(n, [&f](auto& t) {
        const handler_scope as_handler(worker_here(), typeid(F).name());
        t.for_each([&f](auto& e) { f(std::as_const(e.key), e.value); });
      });
    });
  });
}

}  // namespace shoal::detail

// SPDX-License-Identifier: Apache-2.0
// The operations of global_multimap on a node's part, as invoke.hpp wants them.
// Who may call: the container. Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "shoal/detail/hash_shard.hpp"
#include "shoal/detail/invoke.hpp"

namespace shoal::detail {

template <class Key, class Value, class Hash>
struct multimap_operations {
  using shard = hash_shard<Key, std::vector<Value>, Hash>;
  using table = typename shard::table;

  template <class... Arguments>
  struct on_key : at_node_local<shard> {
    using arguments = std::tuple<Key, Arguments...>;
    static constexpr bool k_calls_program = false;
    static void prefetch(const shard& s, const Key& key, const Arguments&...) noexcept { s.prefetch(Hash()(key)); }
  };

  struct insert : on_key<Value> {
    using result = nothing;
    static nothing run(shard& s, Key&& key, Value&& value) {
      const std::uint64_t h = Hash()(key);
      s.with(h, [&](table& t) {
        const auto [values, is_new] = t.find_or_make(h, std::move(key), [] { return std::vector<Value>(); });
        try {
          values->push_back(std::move(value));
        } catch (...) {
          if (is_new) t.erase_value(h, values);  // no key without values
          throw;
        }
      });
      return {};
    }
  };
  /// The values from a position on that fit into a message, and whether there are more.
  struct get : on_key<std::size_t> {
    using result = std::pair<std::vector<Value>, bool>;
    static result run(shard& s, Key&& key, std::size_t first) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) {
        result r;
        const std::vector<Value>* const all = t.find(h, key);
        if (all == nullptr) return r;
        std::size_t bytes = 0;
        for (std::size_t i = first; i < all->size(); ++i) {
          bytes += serializer<Value>::bytes((*all)[i]);
          if (bytes > k_most_bytes && !r.first.empty()) {
            r.second = true;
            break;
          }
          r.first.push_back((*all)[i]);
        }
        return r;
      });
    }
    static constexpr std::size_t k_most_bytes = 8 << 10;
  };
  struct count : on_key<> {
    using result = std::uint64_t;
    static std::uint64_t run(shard& s, Key&& key) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) -> std::uint64_t {
        const std::vector<Value>* const all = t.find(h, key);
        return all == nullptr ? 0 : all->size();
      });
    }
  };
  struct erase : on_key<> {
    using result = std::uint64_t;
    static std::uint64_t run(shard& s, Key&& key) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) -> std::uint64_t {
        const std::vector<Value>* const all = t.find(h, key);
        const std::uint64_t had = all == nullptr ? 0 : all->size();
        t.erase(h, key);
        return had;
      });
    }
  };
};

}  // namespace shoal::detail

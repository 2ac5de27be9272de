// SPDX-License-Identifier: Apache-2.0
// The operations of global_map and its relatives on a node's part, as invoke.hpp wants them.
// Who may call: the containers. Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shoal/detail/hash_shard.hpp"
#include "shoal/detail/invoke.hpp"

namespace shoal::detail {

/// A function of the program for an entry: f(value&), or f(value&, is_new).
template <class F, class Value>
decltype(auto) call_for_value(F& f, Value& value, bool is_new) {
  if constexpr (std::is_invocable_v<F&, Value&, bool>)
    return f(value, is_new);
  else
    return f(value);
}
template <class F, class Value>
using result_for_value = decltype(call_for_value(std::declval<F&>(), std::declval<Value&>(), true));

/// void becomes nothing.
template <class R>
using storable = std::conditional_t<std::is_void_v<R>, nothing, R>;

template <class Key, class Value, class Hash>
struct map_operations {
  using shard = hash_shard<Key, Value, Hash>;
  using table = typename shard::table;

  template <class... Arguments>
  struct on_key : at_node_local<shard> {
    using arguments = std::tuple<Key, Arguments...>;
    static constexpr bool k_calls_program = false;
    static void prefetch(const shard& s, const Key& key, const Arguments&...) noexcept { s.prefetch(Hash()(key)); }
  };

  struct insert : on_key<Value> {
    using result = bool;
    static bool run(shard& s, Key&& key, Value&& value) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) {
        return t.find_or_make(h, std::move(key), [&]() -> Value&& { return std::move(value); }).second;
      });
    }
  };
  struct put : on_key<Value> {
    using result = bool;
    static bool run(shard& s, Key&& key, Value&& value) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) {
        const auto [at, is_new] = t.find_or_make(h, std::move(key), [&]() -> Value&& { return std::move(value); });
        if (!is_new) *at = std::move(value);
        return is_new;
      });
    }
  };
  struct get : on_key<> {
    using result = std::optional<Value>;
    static result run(shard& s, Key&& key) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) -> result {
        const Value* const at = t.find(h, key);
        if (at == nullptr) return std::nullopt;
        return *at;
      });
    }
  };
  struct contains : on_key<> {
    using result = bool;
    static bool run(shard& s, Key&& key) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) { return t.find(h, key) != nullptr; });
    }
  };
  struct erase : on_key<> {
    using result = bool;
    static bool run(shard& s, Key&& key) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) { return t.erase(h, key); });
    }
  };
  struct add : on_key<Value> {
    using result = nothing;
    static nothing run(shard& s, Key&& key, Value&& value) {
      const std::uint64_t h = Hash()(key);
      s.with(h, [&](table& t) { *t.find_or_make(h, std::move(key), [] { return Value{}; }).first += value; });
      return {};
    }
  };
  template <class F>
  struct update : on_key<F> {
    using result = storable<result_for_value<F, Value>>;
    static constexpr bool k_calls_program = true;
    static result run(shard& s, Key&& key, F&& f) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) -> result {
        const auto [at, is_new] = t.find_or_make(h, std::move(key), [] { return Value{}; });
        try {
          return called(f, *at, is_new);
        } catch (...) {
          if (is_new) t.erase_value(h, at);  // a key whose value could not be made is not there
          throw;
        }
      });
    }
  };
  /// Only where the key is present.
  template <class F>
  struct apply : on_key<F> {
    using given = storable<result_for_value<F, Value>>;
    using result = std::optional<given>;
    static constexpr bool k_calls_program = true;
    static result run(shard& s, Key&& key, F&& f) {
      const std::uint64_t h = Hash()(key);
      return s.with(h, [&](table& t) -> result {
        Value* const at = t.find(h, key);
        if (at == nullptr) return std::nullopt;
        return called(f, *at, false);
      });
    }
  };

private:
  template <class F>
  static storable<result_for_value<F, Value>> called(F& f, Value& value, bool is_new) {
    if constexpr (std::is_void_v<result_for_value<F, Value>>) {
      call_for_value(f, value, is_new);
      return {};
    } else {
      return call_for_value(f, value, is_new);
    }
  }
};

}  // namespace shoal::detail

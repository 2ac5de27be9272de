// SPDX-License-Identifier: Apache-2.0
// The hash of keys in containers over nodes: 64 bits, all of them good, the same on all nodes of a job.
// Who may call: anyone; pure functions. A type of the program specializes shoal::hash, or its container names another
// function object with the same form.
//   template <> struct shoal::hash<point> { std::uint64_t operator()(const point& p) const noexcept { ... } };
// Shown by tests/unit/cluster/hash_table_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "shoal/random.hpp"

namespace shoal {

/// Of bytes.
inline std::uint64_t hash_bytes(const void* data, std::size_t bytes) noexcept {
  constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15u;
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t h = (bytes + 1) * k_step;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    h = mix64(h + word) + k_step;
  }
  std::uint64_t rest = 0;
  if (bytes > 0) std::memcpy(&rest, at, bytes);
  return mix64(h + rest);
}

template <class Key>
struct hash {
  static_assert(std::has_unique_object_representations_v<Key> && std::is_trivially_copyable_v<Key>,
                "equal keys of this type may differ in their bytes: specialize shoal::hash for it (shoal/hash.hpp)");
  std::uint64_t operator()(const Key& key) const noexcept { return hash_bytes(&key, sizeof(Key)); }
};

template <class Key>
requires(std::integral<Key> || std::is_enum_v<Key>) struct hash<Key> {
  std::uint64_t operator()(Key key) const noexcept {
    return mix64(static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15u);  // 0 is no fixed point
  }
};

template <>
struct hash<std::string> {
  std::uint64_t operator()(std::string_view s) const noexcept { return hash_bytes(s.data(), s.size()); }
};

template <class A, class B>
requires(!std::has_unique_object_representations_v<std::pair<A, B>> ||
         !std::is_trivially_copyable_v<std::pair<A, B>>) struct hash<std::pair<A, B>> {
  std::uint64_t operator()(const std::pair<A, B>& p) const noexcept {
    return mix64(hash<A>()(p.first) + 0x9e3779b97f4a7c15u) + hash<B>()(p.second);
  }
};

}  // namespace shoal

// SPDX-License-Identifier: Apache-2.0
// The collectives of a team for values and spans, as functions of a link: team::x runs one at once, team::async_x in a
// task. Spans are not copied. Who may call: shoal/team.hpp. Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/collectives.hpp"

namespace shoal {

/// The blocks of several members, one behind the other in order of ranks.
template <class T>
struct blocks {
  std::vector<T> values;
  std::vector<std::uint64_t> begins;  // of the members' blocks in `values`, and the end

  std::span<const T> of(std::uint32_t rank) const {
    return std::span(values).subspan(begins[rank], begins[rank + 1] - begins[rank]);
  }
};

namespace detail::collective_of {

template <class T>
inline constexpr bool k_is_view = false;
template <class T, std::size_t N>
inline constexpr bool k_is_view<std::span<T, N>> = true;
template <class C>
inline constexpr bool k_is_view<std::basic_string_view<C>> = true;

/// Not views: what they show stays on its node. A view of elements is passed as a span that is no const reference.
template <class T>
concept value = std::is_trivially_copyable_v<T> && !k_is_view<T>;
/// What a vector of results can hold before they arrive.
template <class T>
concept result = value<T> && std::default_initializable<T>;

template <class T>
std::span<std::byte> bytes_of_value(T& v) noexcept {
  return std::as_writable_bytes(std::span(&v, 1));
}

template <class T, class Combine>
collectives::reduction reduction_by(const Combine& combine) noexcept {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "elements are combined in memory of operator new");
  const auto apply = [](const void* context, const std::byte* lower, const std::byte* upper, std::byte* into,
                        std::size_t count) {
    const Combine& by = *static_cast<const Combine*>(context);
    const auto* a = reinterpret_cast<const T*>(lower);
    const auto* b = reinterpret_cast<const T*>(upper);
    auto* c = reinterpret_cast<T*>(into);
    for (std::size_t i = 0; i < count; ++i) c[i] = by(a[i], b[i]);
  };
  return {apply, &combine, sizeof(T)};
}

inline auto barrier() {
  return [](collectives::link& to) { collectives::barrier(to); };
}

template <value T>
auto broadcast(const T& value, std::uint32_t root) {
  return [value, root](collectives::link& to) {
    T v = value;
    collectives::broadcast(to, root, bytes_of_value(v));
    return v;
  };
}
template <value T>
auto broadcast(std::span<T> values, std::uint32_t root) {
  return [values, root](collectives::link& to) { collectives::broadcast(to, root, std::as_writable_bytes(values)); };
}

template <value T, class Combine>
auto all_reduce(const T& value, const Combine& combine) {
  return [value, combine](collectives::link& to) {
    T v = value;
    collectives::all_reduce(to, bytes_of_value(v), reduction_by<T>(combine));
    return v;
  };
}
template <value T, class Combine>
auto all_reduce(std::span<T> values, const Combine& combine) {
  return [values, combine](collectives::link& to) {
    collectives::all_reduce(to, std::as_writable_bytes(values), reduction_by<T>(combine));
  };
}

template <value T, class Combine>
auto reduce(const T& value, const Combine& combine, std::uint32_t root) {
  return [value, combine, root](collectives::link& to) {
    T v = value;
    collectives::reduce(to, root, bytes_of_value(v), reduction_by<T>(combine));
    return v;
  };
}
template <value T, class Combine>
auto reduce(std::span<T> values, const Combine& combine, std::uint32_t root) {
  return [values, combine, root](collectives::link& to) {
    collectives::reduce(to, root, std::as_writable_bytes(values), reduction_by<T>(combine));
  };
}

template <value T, class Combine>
auto scan(const T& value, const Combine& combine) {
  return [value, combine](collectives::link& to) {
    T v = value;
    collectives::scan(to, bytes_of_value(v), reduction_by<T>(combine));
    return v;
  };
}
template <value T, class Combine>
auto scan(std::span<T> values, const Combine& combine) {
  return [values, combine](collectives::link& to) {
    collectives::scan(to, std::as_writable_bytes(values), reduction_by<T>(combine));
  };
}
template <value T, class Combine>
auto exscan(const T& value, const Combine& combine, const T& first) {
  return [value, combine, first](collectives::link& to) {
    T v = value;
    collectives::exscan(to, bytes_of_value(v), reduction_by<T>(combine));
    return to.rank() == 0 ? first : v;
  };
}
template <value T, class Combine>
auto exscan(std::span<T> values, const Combine& combine, const T& first) {
  return [values, combine, first](collectives::link& to) {
    collectives::exscan(to, std::as_writable_bytes(values), reduction_by<T>(combine));
    if (to.rank() == 0) std::ranges::fill(values, first);
  };
}

template <result T>
auto gather(const T& value, std::uint32_t root) {
  return [value, root](collectives::link& to) {
    std::vector<T> all(to.rank() == root ? to.size() : 0);
    collectives::gather(to, root, std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  };
}
template <result T>
auto all_gather(const T& value) {
  return [value](collectives::link& to) {
    std::vector<T> all(to.size());
    all[to.rank()] = value;
    collectives::all_gather(to, collectives::equal_bounds(to.size(), sizeof(T)),
                            std::as_writable_bytes(std::span(all)));
    return all;
  };
}

/// Room for blocks with these bounds in bytes.
template <result T>
blocks<T> room_for_blocks(std::span<const std::size_t> bounds) {
  blocks<T> all{std::vector<T>(bounds.back() / sizeof(T)), {}};
  for (const std::size_t b : bounds) all.begins.push_back(b / sizeof(T));
  return all;
}

template <result T>
auto gather_blocks(std::span<const T> values, std::uint32_t root) {
  return [values, root](collectives::link& to) {
    blocks<T> all{{}, {0}};  // what others than the root return
    collectives::gather_blocks(to, root, std::as_bytes(values), [&all](collectives::block_bounds bounds) {
      all = room_for_blocks<T>(bounds);
      return std::as_writable_bytes(std::span(all.values));
    });
    return all;
  };
}
template <result T>
auto all_gather_blocks(std::span<const T> values) {
  return [values](collectives::link& to) {
    collectives::second_phase rest(to);
    const auto bounds = collectives::bounds_of(all_gather(std::uint64_t{values.size_bytes()})(to));
    auto all = room_for_blocks<T>(bounds);
    std::ranges::copy(values, all.values.begin() + static_cast<std::ptrdiff_t>(all.begins[to.rank()]));
    collectives::all_gather(rest, bounds, std::as_writable_bytes(std::span(all.values)));
    return all;
  };
}

template <result T>
auto all_to_all(std::span<const T> values) {
  return [values](collectives::link& to) {
    std::vector<T> received(values.size());
    collectives::all_to_all(to, std::as_bytes(values), std::as_writable_bytes(std::span(received)));
    return received;
  };
}
template <result T>
auto all_to_all_blocks(std::span<const T> values, std::span<const std::uint64_t> counts) {
  return [values, counts](collectives::link& to) {
    collectives::second_phase rest(to);
    std::vector<std::uint64_t> bytes(counts.begin(), counts.end());
    for (std::uint64_t& b : bytes) b *= sizeof(T);
    const auto sent = collectives::bounds_of(bytes);
    const auto taken = collectives::bounds_of(all_to_all(std::span<const std::uint64_t>(bytes))(to));
    auto all = room_for_blocks<T>(taken);
    collectives::all_to_all_blocks(rest, std::as_bytes(values), sent, std::as_writable_bytes(std::span(all.values)),
                                   taken);
    return all;
  };
}

}  // namespace detail::collective_of
}  // namespace shoal

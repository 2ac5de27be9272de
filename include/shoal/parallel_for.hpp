// SPDX-License-Identifier: Apache-2.0
// Loops over the nodes and their workers: parallel_for(where, n, body) runs body(0) ... body(n-1), in any order and at
// the same time, and returns when all have ended and all that they began asynchronously is complete.
//   everywhere   equal shares on all nodes         here        on this node (the body may capture references)
//   elsewhere    on all nodes but this one         owners_of(array)   body(i) where element i is
// Who may call: tasks; loops nest. It switches, and so may the body.
// Guarantees: one message per node and loop; within a node workers divide their share lazily; many iterations wait at
// once, bounded by memory. The first exception ends the share of its node early and, when all have ended, is thrown
// here: as itself from a loop that is only here, else as shoal::remote_error. Bodies that leave this node are trivially
// copyable and below 11 KiB.
// Source: GMT's parFor (Morari 2014, chapter 5). Shown by tests/cluster/loop_test.cpp.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/loop_run.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/loop.hpp"
#include "shoal/on.hpp"

namespace shoal {

struct everywhere_t {};
struct here_t {};
struct elsewhere_t {};
inline constexpr everywhere_t everywhere;
inline constexpr here_t here;
inline constexpr elsewhere_t elsewhere;

template <class T>
struct owners_of {
  explicit owners_of(const array_ref<T>& a) noexcept : layout(a.layout()) {}
  explicit owners_of(const global_array<T>& a) noexcept : layout(a.ref().layout()) {}
  detail::array_layout layout;
};

namespace detail {

template <class T>
inline constexpr bool is_owners_of = false;
template <class T>
inline constexpr bool is_owners_of<owners_of<T>> = true;
template <class T>
concept loop_place =
    std::same_as<T, everywhere_t> || std::same_as<T, here_t> || std::same_as<T, elsewhere_t> || is_owners_of<T>;

template <class Body>
struct strided_body {
  Body body;
  std::uint64_t first;
  std::uint64_t stride;
  decltype(auto) operator()(std::uint64_t k) const { return body(first + k * stride); }
};

inline loop_plan plan_of_share(const loop_share& share) noexcept {
  loop_plan plan;
  if (share.grain != 0) plan.take(simple_partitioner{share.grain});
  return plan;
}

template <class Body>
void run_share_here(const loop_share& share, const Body& body) {
  const strided_body<const Body&> strided{body, share.first, share.stride};
  run_for<false>(number_range<std::uint64_t>(0, share.count), strided, plan_of_share(share));
}

template <class Body>
std::size_t run_for_share(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  const auto share = packed<loop_share>::read(arguments.data());
  const Body body = packed<Body>::read(arguments.data() + k_share_words);
  const outermost_scope scope(share.outermost);
  run_share_here(share, body);
  return 0;
}

template <class T, class Body, class Combine>
struct reduce_pair {
  Body body;
  Combine combine;
};

template <class T, class Body, class Combine>
T reduce_share_here(const loop_share& share, const Body& body, const Combine& combine, T identity) {
  const strided_body<const Body&> strided{body, share.first, share.stride};
  return run_reduce<false>(number_range<std::uint64_t>(0, share.count), identity, strided, combine,
                           plan_of_share(share));
}

template <class T, class Body, class Combine>
std::size_t run_reduce_share(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  using pair = reduce_pair<T, Body, Combine>;
  const std::uint64_t* at = arguments.data();
  const auto share = packed<loop_share>::read(at);
  at += k_share_words;
  const auto both = packed<pair>::read(at);
  const auto identity = packed<T>::read(at + packed<pair>::k_words);
  const outermost_scope scope(share.outermost);
  packed<T>::write(reduce_share_here<T>(share, both.body, both.combine, identity), answer);
  return packed<T>::k_words;
}

inline loop_shares shares_of(everywhere_t, std::uint64_t begin, std::uint64_t end) {
  return loop_shares::everywhere(begin, end);
}
inline loop_shares shares_of(elsewhere_t, std::uint64_t begin, std::uint64_t end) {
  return loop_shares::elsewhere(begin, end);
}
template <class T>
loop_shares shares_of(const owners_of<T>& owners, std::uint64_t begin, std::uint64_t end) {
  return loop_shares::owners(owners.layout, begin, end);
}

}  // namespace detail

/// Runs body(i) for all i in [begin, end) at `where`. `grain`: iterations per chunk; 0: chosen.
template <detail::loop_place Where, class Body>
void parallel_for(const Where& where, std::uint64_t begin, std::uint64_t end, const Body& body,
                  std::uint64_t grain = 0) {
  static_assert(!std::is_function_v<Body>, "the body is a function object: wrap the function in a lambda");
  static_assert(std::is_invocable_v<const Body&, std::uint64_t>, "the body is called with the index of the iteration");
  if (begin >= end) return;
  if constexpr (std::is_same_v<Where, here_t>) {
    detail::run_share_here({begin, end - begin, 1, grain, false}, body);
  } else {
    detail::check_capture(body);
    auto all = detail::shares_of(where, begin, end);
    all.set(grain, detail::is_outermost());
    constexpr std::size_t k_share = detail::k_share_words;
    static_assert(k_share + detail::packed<Body>::k_words <= detail::k_most_call_words,
                  "what a loop's body captures must be below 11 KiB");
    std::array<std::uint64_t, k_share + detail::packed<Body>::k_words> words;
    detail::packed<Body>::write(body, words.data() + k_share);
    detail::completion calls;
    const auto* const mine = detail::begin_other_shares(calls, all, detail::run_for_share<Body>, words);
    if (mine != nullptr) {
      try {
        detail::run_share_here(*mine, body);
      } catch (...) {
        detail::rethrow_as_remote();
      }
    }
    calls.wait_and_rethrow();
  }
}

template <detail::loop_place Where, class Body>
void parallel_for(const Where& where, std::uint64_t n, const Body& body) {
  parallel_for(where, 0, n, body);
}

/// Combines body(i) for all i in [begin, end), beginning with `identity` on each node, and once more here where the
/// nodes' values are combined: it must change nothing. Order unspecified within a node, nodes in ascending order.
template <detail::loop_place Where, class T, class Body, class Combine>
T parallel_reduce(const Where& where, std::uint64_t begin, std::uint64_t end, T identity, const Body& body,
                  const Combine& combine, std::uint64_t grain = 0) {
  static_assert(!std::is_function_v<Body> && !std::is_function_v<Combine>,
                "body and combiner are function objects: wrap a plain function in a lambda");
  static_assert(std::is_invocable_r_v<T, const Body&, std::uint64_t>, "the body gives a value for each iteration");
  static_assert(std::is_invocable_r_v<T, const Combine&, T, T>, "the combiner makes one value of two");
  if (begin >= end) return identity;
  if constexpr (std::is_same_v<Where, here_t>) {
    return detail::reduce_share_here<T>({begin, end - begin, 1, grain, false}, body, combine, identity);
  } else {
    using pair = detail::reduce_pair<T, Body, Combine>;
    detail::check_capture(body);
    detail::check_capture(combine);
    auto all = detail::shares_of(where, begin, end);
    all.set(grain, detail::is_outermost());
    constexpr std::size_t k_share = detail::k_share_words;
    constexpr std::size_t k_pair = detail::packed<pair>::k_words;
    static_assert(k_share + k_pair + detail::packed<T>::k_words <= detail::k_most_call_words,
                  "body, combiner and value of a reduction must together be below 11 KiB");
    std::array<std::uint64_t, k_share + k_pair + detail::packed<T>::k_words> words;
    detail::packed<pair>::write(pair{body, combine}, words.data() + k_share);
    detail::packed<T>::write(identity, words.data() + k_share + k_pair);
    std::vector<detail::answer_room<T>> rooms(all.size());
    detail::completion calls;  // after the rooms: waits before they go
    std::optional<std::size_t> mine;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.node(i) == node_id()) {
        mine = i;
        continue;
      }
      detail::packed<detail::loop_share>::write(all[i], words.data());
      detail::begin_call(calls, all.node(i), detail::run_reduce_share<T, Body, Combine>, words, rooms[i].data(),
                         rooms[i].size());
    }
    if (all.size() > (mine ? 1U : 0U)) flush();
    std::optional<T> own;
    if (mine) try {
        own = detail::reduce_share_here<T>(all[*mine], body, combine, identity);
      } catch (...) {
        detail::rethrow_as_remote();
      }
    T total = identity;
    calls.wait_and_rethrow();
    for (std::size_t i = 0; i < all.size(); ++i)
      total = combine(std::move(total), mine == i ? std::move(*own) : rooms[i].value());
    return total;
  }
}

template <detail::loop_place Where, class T, class Body, class Combine>
T parallel_reduce(const Where& where, std::uint64_t n, T identity, const Body& body, const Combine& combine) {
  return parallel_reduce(where, 0, n, std::move(identity), body, combine);
}

}  // namespace shoal

// SPDX-License-Identifier: Apache-2.0
// Loops that are spread over nodes: each node's share of a range, as one call of the node (loop_shares.hpp), which runs
// the share as a loop of its own (loop_run.hpp).
// Who may call: tasks, through shoal/parallel_for.hpp. It switches as loops do.
// Guarantees: those of shoal/parallel_for.hpp. Shown by tests/cluster/loop_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/loop_ordered.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/detail/loop_stop.hpp"
#include "shoal/on.hpp"
#include "shoal/place.hpp"

namespace shoal::detail {

// --- what a share is of a range ---

template <class Index>
std::uint64_t positions(const number_range<Index>& range) noexcept {
  return range.size();
}
template <loop_range Box>
std::uint64_t positions(const Box& box) noexcept {
  return box.side(0).size();
}

template <class Index>
number_range<Index> slice(number_range<Index> range, const loop_share& share) noexcept {
  using wide = std::make_unsigned_t<Index>;
  range.begin = static_cast<Index>(static_cast<wide>(static_cast<wide>(range.begin) + static_cast<wide>(share.first)));
  range.end = static_cast<Index>(static_cast<wide>(static_cast<wide>(range.begin) + static_cast<wide>(share.count)));
  return range;
}
template <loop_range Box>
Box slice(Box box, const loop_share& share) noexcept {
  const range1d& side = box.side(0);
  box.side(0) = range1d(side.begin() + share.first, side.begin() + share.first + share.count, side.grain());
  return box;
}

inline loop_shares divide(everywhere_t, std::uint64_t count) { return loop_shares::everywhere(0, count); }
inline loop_shares divide(elsewhere_t, std::uint64_t count) { return loop_shares::elsewhere(0, count); }

template <class Place, class Range>
loop_shares shares_of(const Place& place, const Range& range) {
  if constexpr (is_owners_of<Place>) {
    SHOAL_ASSERT(range.begin >= 0, "owners_of: the loop begins at a negative index");
    return loop_shares::owners(place.layout, static_cast<std::uint64_t>(range.begin),
                               static_cast<std::uint64_t>(range.end));
  } else {
    return divide(place, positions(range));
  }
}

/// Where a share's positions are not all one behind the other.
template <class Index, class Body>
struct strided_body {
  const Body& body;
  loop_share share;
  decltype(auto) operator()(std::uint64_t k) const { return body(static_cast<Index>(share.position(k))); }
};

template <class Range>
struct index_of {
  using type = std::uint64_t;
};
template <class Index>
struct index_of<number_range<Index>> {
  using type = Index;
};

/// Calls run(range, body) for the share: `Strided`, with the numbers of its positions.
template <bool Strided, class Range, class Body, class Run>
decltype(auto) over_share(const loop_share& share, const Range& range, const Body& body, const Run& run) {
  if constexpr (Strided)
    return run(number_range<std::uint64_t>(0, share.count),
               strided_body<typename index_of<Range>::type, Body>{body, share});
  else
    return run(slice(range, share), body);
}

// --- a share that has arrived ---

/// Reads the values that were packed one after another.
class unpacking {
public:
  explicit unpacking(std::span<const std::uint64_t> words) noexcept
      : at_(words.data()), end_(words.data() + words.size()) {}
  template <class T>
  T next() noexcept {
    SHOAL_ASSERT(static_cast<std::size_t>(end_ - at_) >= packed<T>::k_words,
                 "another node has sent a share of a loop that is too short; do all nodes run the same program?");
    const T value = packed<T>::read(at_);
    at_ += packed<T>::k_words;
    return value;
  }

private:
  const std::uint64_t* at_;
  const std::uint64_t* end_;
};

template <class... Ts>
inline constexpr std::size_t k_words_of = (packed<Ts>::k_words + ... + 0);

template <class... Ts>
std::array<std::uint64_t, k_words_of<Ts...>> pack(const Ts&... values) noexcept {
  static_assert(k_words_of<Ts...> <= k_most_call_words,
                "what a loop's body, combiner and value hold must together be below 11 KiB");
  std::array<std::uint64_t, k_words_of<Ts...>> words;
  std::uint64_t* at = words.data();
  ((packed<Ts>::write(values, at), at += packed<Ts>::k_words), ...);
  return words;
}

/// Where begin_loop_calls() writes.
using share_room = std::array<std::uint64_t, k_share_words>;

/// Calls run(plan) for a share of a loop that node `from` has begun.
template <class Run>
decltype(auto) as_share(std::uint32_t from, const loop_share& share, const Run& run) {
  const outermost_scope scope(share.outermost);
  loop_plan plan = share.plan();
  if (share.stop == 0) return run(plan);
  const share_stop stop(from, share.stop >> 1);
  const within_scope inside(&stop);
  if ((share.stop & 1) != 0) plan.stop = &stop.token();
  return run(plan);
}

template <bool Stoppable, bool Movable, bool Strided, class Range, class Body>
void run_for_share(const loop_share& share, const Range& range, const Body& body, const loop_plan& plan) {
  over_share<Strided>(share, range, body, [&plan](const auto& part, const auto& on_part) {
    run_for<Stoppable, Movable>(part, on_part, plan);
  });
}

template <bool Stoppable, bool Movable, bool Strided, class Range, class Body>
std::size_t receive_for_share(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  loop_rule rule;
  const loop_share share = arrived_share(arguments, rule);
  unpacking all(arguments.subspan(k_rule_words));
  const auto range = all.next<Range>();
  const auto body = all.next<Body>();
  as_share(rule.origin, share,
           [&](const loop_plan& plan) { run_for_share<Stoppable, Movable, Strided>(share, range, body, plan); });
  return 0;
}

/// A reduction: its loop, and how its chunks are fixed, if they are.
template <class T, class Range, class Body, class Combine>
struct spread_reduction {
  Range range;
  Body body;
  Combine combine;
  T identity;
  std::uint64_t fixed_grain = 0;

  template <bool Stoppable, bool Strided, bool Fixed>
  T run_share(const loop_share& share, const loop_plan& plan) const {
    return over_share<Strided>(share, range, body, [&](const auto& part, const auto& on_part) {
      if constexpr (Fixed)
        return run_ordered_reduce<Stoppable>(part, identity, on_part, combine, fixed_grain, plan);
      else
        return run_reduce<Stoppable>(part, identity, on_part, combine, plan);
    });
  }
};

template <bool Stoppable, bool Strided, bool Fixed, class T, class Reduction>
std::size_t receive_reduce_share(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  loop_rule rule;
  const loop_share share = arrived_share(arguments, rule);
  const auto work = unpacking(arguments.subspan(k_rule_words)).next<Reduction>();
  as_share(rule.origin, share, [&](const loop_plan& plan) {
    packed<T>::write(work.template run_share<Stoppable, Strided, Fixed>(share, plan), answer);
  });
  return packed<T>::k_words;
}

/// The values of neighbouring nodes.
template <class T, class Reduction>
std::size_t combine_shares(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answers) {
  const auto work = unpacking(arguments.subspan(k_rule_words)).next<Reduction>();
  const std::uint64_t* const right = answers + packed<T>::k_words;
  packed<T>::write(work.combine(packed<T>::read(answers), packed<T>::read(right)), answers);
  return packed<T>::k_words;
}

/// What one chunk of a deterministic reduction gave, in an answer: whether it began, and its value.
template <class T>
struct chunk_slot {
  static constexpr std::size_t k_words = 1 + packed<T>::k_words;
  static constexpr std::uint64_t k_per_call = k_most_call_words / k_words;

  static void write(const T& value, std::uint64_t* words) noexcept {
    words[0] = 1;
    packed<T>::write(value, words + 1);
  }
  static std::optional<T> read(const std::uint64_t* words) noexcept {
    if (words[0] == 0) return std::nullopt;
    return packed<T>::read(words + 1);
  }
};

/// The share's positions are chunks of the whole range.
template <bool Stoppable, class T, class Range, class Reduction>
std::size_t receive_chunks(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  unpacking all(arguments);
  const auto share = all.next<loop_share>();
  const auto work = all.next<Reduction>();
  const ordered_chunks<Range> chunks(work.range, work.fixed_grain);
  const std::size_t words = share.count * chunk_slot<T>::k_words;
  std::fill_n(answer, words, 0);
  as_share(from, share, [&](const loop_plan& plan) {
    run_chunks<Stoppable>(chunks, share.first, share.first + share.count, work.identity, work.body, work.combine, plan,
                          [&](std::uint64_t k, T&& value) {
                            chunk_slot<T>::write(value, answer + (k - share.first) * chunk_slot<T>::k_words);
                          });
  });
  return words;
}

// --- the node that begins the loop ---

/// The shares of a loop that begins, and the forwarding of requests to stop it.
struct begun_loop {
  loop_shares all;
  std::optional<stop_forwarding> stop;

  begun_loop(const loop_shares& shares, const loop_plan& plan) : all(shares) {
    const std::stop_token* const token = plan.stop != nullptr ? plan.stop : stop_of_scope();
    if (token != nullptr) stop.emplace(*token, all);
    all.set(plan, stop ? stop->id() << 1 | (plan.stop != nullptr ? 1 : 0) : 0);
  }
};

/// Calls own(), whose exceptions reach the caller as those of other nodes do.
template <class Own>
decltype(auto) as_remote(const Own& own) {
  try {
    return own();
  } catch (...) {
    rethrow_as_remote();
  }
}

inline bool stopped_before(const loop_plan& plan) noexcept {
  return plan.stop != nullptr && plan.stop->stop_requested();
}

template <bool Stoppable, bool Movable, class Place, class Range, class Body>
void run_for_at(const Place& place, const Range& range, const Body& body, const loop_plan& plan) {
  constexpr bool k_strided = is_owners_of<Place>;
  check_capture(body);
  if (range.empty() || stopped_before(plan)) return;
  begun_loop loop(shares_of(place, range), plan);
  auto words = pack(share_room{}, range, body);
  completion calls;
  const auto mine =
      begin_loop_calls(calls, loop.all, callee_of<receive_for_share<Stoppable, Movable, k_strided, Range, Body>>(),
                       words, call_tree::own_part::left_out);
  if (mine) as_remote([&] { run_for_share<Stoppable, Movable, k_strided>(*mine, range, body, plan); });
  calls.wait_and_rethrow();
}

template <bool Stoppable, bool Fixed, class Place, class T, class Range, class Body, class Combine>
T run_reduce_at(const Place& place, const spread_reduction<T, Range, Body, Combine>& work, const loop_plan& plan) {
  using reduction = spread_reduction<T, Range, Body, Combine>;
  constexpr bool k_strided = is_owners_of<Place>;
  check_capture(work.body);
  check_capture(work.combine);
  if (work.range.empty() || stopped_before(plan)) return work.identity;
  begun_loop loop(shares_of(place, work.range), plan);
  auto words = pack(share_room{}, work);
  call_tree tree(loop.all.row(), callee_of<receive_reduce_share<Stoppable, k_strided, Fixed, T, reduction>>(),
                 callee_of<combine_shares<T, reduction>>(), packed<T>::k_words);
  completion calls;  // after the tree: waits before it goes
  const auto mine = begin_loop_calls(calls, loop.all, tree, words, call_tree::own_part::left_out);
  if (mine) {
    const auto run_own = [&] { return work.template run_share<Stoppable, k_strided, Fixed>(*mine, plan); };
    packed<T>::write(as_remote(run_own), tree.own_answer());
  }
  calls.wait_and_rethrow();
  const auto arguments = std::span<const std::uint64_t>(words).subspan(k_tree_words);
  return work.combine(work.identity, packed<T>::read(tree.combined(arguments).data()));
}

/// The chunks of the whole range, divided over the nodes; their values are combined here, so that neither the number of
/// workers nor that of nodes changes a bit.
template <bool Stoppable, class Place, class T, class Range, class Body, class Combine>
T run_chunks_at(const Place& place, const spread_reduction<T, Range, Body, Combine>& work, const loop_plan& plan) {
  using reduction = spread_reduction<T, Range, Body, Combine>;
  using slot = chunk_slot<T>;
  check_capture(work.body);
  check_capture(work.combine);
  if (work.range.empty() || stopped_before(plan)) return work.identity;
  const ordered_chunks<Range> chunks(work.range, work.fixed_grain);
  begun_loop loop(divide(place, chunks.count()), plan);
  auto words = pack(loop_share{}, work);
  std::vector<std::uint64_t> answers(chunks.count() * slot::k_words);
  completion calls;  // after the answers: waits before they go
  std::optional<loop_share> mine;
  const std::uint32_t here = node_id();
  for (std::uint32_t i = 0; i < loop.all.size(); ++i) {
    loop_share part = loop.all[i];
    if (loop.all.node(i) == here) {
      mine = part;
      continue;
    }
    for (const std::uint64_t end = part.first + part.count; part.first < end; part.first += part.count) {
      part.count = std::min(slot::k_per_call, end - part.first);
      packed<loop_share>::write(part, words.data());
      begin_call(calls, loop.all.node(i), callee_of<receive_chunks<Stoppable, T, Range, reduction>>(), words,
                 answers.data() + part.first * slot::k_words, part.count * slot::k_words);
    }
  }
  flush_all(this_port());
  if (mine)
    as_remote([&] {
      run_chunks<Stoppable>(
          chunks, mine->first, mine->first + mine->count, work.identity, work.body, work.combine, plan,
          [&](std::uint64_t k, T&& value) { slot::write(value, answers.data() + k * slot::k_words); });
    });
  calls.wait_and_rethrow();
  T total = work.identity;
  for (std::uint64_t k = 0; k < chunks.count(); ++k)
    if (auto value = slot::read(answers.data() + k * slot::k_words))
      total = work.combine(std::move(total), std::move(*value));
  return total;
}

}  // namespace shoal::detail

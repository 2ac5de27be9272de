// SPDX-License-Identifier: Apache-2.0
// The nodes of a job, or some of them, that run one body each, and their collective operations.
//   shoal::spmd([](shoal::team& t) { const auto sum = t.all_reduce(mine, std::plus<>{}); t.barrier(); ... });
// Who may call: the tasks that run the bodies. All members call the same operations in the same order. A bare operation
// switches tasks and returns when this member's part is done. async_x gives it its place in the order, returns a
// shoal::future and switches only when buffers are full; spans must live until the future is ready, and the body must
// not return before.
// Values and elements: trivially copyable, and default-initializable where the result is a vector. Spans have the same
// size on all members; blocks (gather and the like, of spans) have any. Reductions combine in ascending order of ranks,
// in the same way on all members. Errors: see shoal/spmd.hpp. O(log n) messages per member, if not stated otherwise.
// Shown by tests/cluster/spmd_test.cpp, tests/unit/collectives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/team_call.hpp"
#include "shoal/detail/team_operations.hpp"
#include "shoal/future.hpp"

namespace shoal {

/// Move-only. A team that split() has made must be destroyed before the one that it was made of.
class team {
  using what = detail::collective;
  using called = detail::called;

  called of(what which, std::uint32_t root = 0, std::uint64_t bytes = 0) const {
    check_root(root);
    return called(which, root, bytes);
  }

  template <class Run>
  auto now(called c, const Run& run) {
    detail::team_call call(state_, group_, c);
    return call.run(run);
  }
  template <class Run>
  auto later(called c, Run run) {
    return async("a collective of a team", [call = detail::team_call(state_, group_, c),
                                            run = std::move(run)]() mutable { return call.run(run); });
  }

public:
  team(std::shared_ptr<detail::team_state> state, std::shared_ptr<detail::team_group> group) noexcept;
  team(team&&) noexcept = default;
  team& operator=(team&&) = delete;
  ~team();

  std::uint32_t size() const noexcept { return group_->size; }
  std::uint32_t rank() const noexcept { return group_->rank; }
  /// The node of a member.
  std::uint32_t node(std::uint32_t member) const noexcept { return group_->node_of(member); }

  /// Afterwards all members see the effects of bare verbs and completed async verbs before it. Completes the async verbs
  /// of this task first.
  void barrier();
  /// The same without the async verbs: call shoal::wait() before it.
  future<void> async_barrier() { return later(of(what::barrier), detail::collective_of::barrier()); }

  /// The value, or the elements, of member `root` on all members.
  template <class T>
  T broadcast(const T& value, std::uint32_t root = 0) {
    return now(of(what::broadcast, root, sizeof(T)), detail::collective_of::broadcast(value, root));
  }
  template <class T, std::size_t N>
  void broadcast(std::span<T, N> values, std::uint32_t root = 0) {
    now(of(what::broadcast, root, values.size_bytes()), detail::collective_of::broadcast(std::span<T>(values), root));
  }
  template <class T>
  future<T> async_broadcast(const T& value, std::uint32_t root = 0) {
    return later(of(what::broadcast, root, sizeof(T)), detail::collective_of::broadcast(value, root));
  }
  template <class T, std::size_t N>
  future<void> async_broadcast(std::span<T, N> values, std::uint32_t root = 0) {
    return later(of(what::broadcast, root, values.size_bytes()),
                 detail::collective_of::broadcast(std::span<T>(values), root));
  }

  /// All members' values combined, or their elements one by one, on all members.
  template <class T, class Combine>
  T all_reduce(const T& value, const Combine& combine) {
    return now(of(what::all_reduce, 0, sizeof(T)), detail::collective_of::all_reduce(value, combine));
  }
  template <class T, std::size_t N, class Combine>
  void all_reduce(std::span<T, N> values, const Combine& combine) {
    now(of(what::all_reduce, 0, values.size_bytes()), detail::collective_of::all_reduce(std::span<T>(values), combine));
  }
  template <class T, class Combine>
  future<T> async_all_reduce(const T& value, const Combine& combine) {
    return later(of(what::all_reduce, 0, sizeof(T)), detail::collective_of::all_reduce(value, combine));
  }
  template <class T, std::size_t N, class Combine>
  future<void> async_all_reduce(std::span<T, N> values, const Combine& combine) {
    return later(of(what::all_reduce, 0, values.size_bytes()),
                 detail::collective_of::all_reduce(std::span<T>(values), combine));
  }

  /// The same on member `root` only. What the others get, and what their spans hold afterwards, has no meaning.
  template <class T, class Combine>
  T reduce(const T& value, const Combine& combine, std::uint32_t root) {
    return now(of(what::reduce, root, sizeof(T)), detail::collective_of::reduce(value, combine, root));
  }
  template <class T, std::size_t N, class Combine>
  void reduce(std::span<T, N> values, const Combine& combine, std::uint32_t root) {
    now(of(what::reduce, root, values.size_bytes()),
        detail::collective_of::reduce(std::span<T>(values), combine, root));
  }
  template <class T, class Combine>
  future<T> async_reduce(const T& value, const Combine& combine, std::uint32_t root) {
    return later(of(what::reduce, root, sizeof(T)), detail::collective_of::reduce(value, combine, root));
  }
  template <class T, std::size_t N, class Combine>
  future<void> async_reduce(std::span<T, N> values, const Combine& combine, std::uint32_t root) {
    return later(of(what::reduce, root, values.size_bytes()),
                 detail::collective_of::reduce(std::span<T>(values), combine, root));
  }

  /// Member r gets the combination of members 0 ... r (scan), or 0 ... r - 1 (exscan; member 0 gets `first`).
  template <class T, class Combine>
  T scan(const T& value, const Combine& combine) {
    return now(of(what::scan, 0, sizeof(T)), detail::collective_of::scan(value, combine));
  }
  template <class T, std::size_t N, class Combine>
  void scan(std::span<T, N> values, const Combine& combine) {
    now(of(what::scan, 0, values.size_bytes()), detail::collective_of::scan(std::span<T>(values), combine));
  }
  template <class T, class Combine>
  future<T> async_scan(const T& value, const Combine& combine) {
    return later(of(what::scan, 0, sizeof(T)), detail::collective_of::scan(value, combine));
  }
  template <class T, class Combine>
  T exscan(const T& value, const Combine& combine, const T& first = T{}) {
    return now(of(what::exscan, 0, sizeof(T)), detail::collective_of::exscan(value, combine, first));
  }
  template <class T, std::size_t N, class Combine>
  void exscan(std::span<T, N> values, const Combine& combine, const T& first = T{}) {
    now(of(what::exscan, 0, values.size_bytes()), detail::collective_of::exscan(std::span<T>(values), combine, first));
  }
  template <class T, class Combine>
  future<T> async_exscan(const T& value, const Combine& combine, const T& first = T{}) {
    return later(of(what::exscan, 0, sizeof(T)), detail::collective_of::exscan(value, combine, first));
  }

  /// On member `root`: the values of all members, or their blocks. Empty on the others.
  template <class T>
  std::vector<T> gather(const T& value, std::uint32_t root) {
    return now(of(what::gather, root, sizeof(T)), detail::collective_of::gather(value, root));
  }
  template <class T, std::size_t N>
  auto gather(std::span<T, N> block, std::uint32_t root) -> blocks<std::remove_const_t<T>> {
    return now(of(what::gather, root), detail::collective_of::gather_blocks(std::span<const T>(block), root));
  }
  template <class T>
  future<std::vector<T>> async_gather(const T& value, std::uint32_t root) {
    return later(of(what::gather, root, sizeof(T)), detail::collective_of::gather(value, root));
  }
  template <class T, std::size_t N>
  auto async_gather(std::span<T, N> block, std::uint32_t root) -> future<blocks<std::remove_const_t<T>>> {
    return later(of(what::gather, root), detail::collective_of::gather_blocks(std::span<const T>(block), root));
  }

  /// The same on all members.
  template <class T>
  std::vector<T> all_gather(const T& value) {
    return now(of(what::all_gather, 0, sizeof(T)), detail::collective_of::all_gather(value));
  }
  template <class T, std::size_t N>
  auto all_gather(std::span<T, N> block) -> blocks<std::remove_const_t<T>> {
    return now(of(what::all_gather), detail::collective_of::all_gather_blocks(std::span<const T>(block)));
  }
  template <class T>
  future<std::vector<T>> async_all_gather(const T& value) {
    return later(of(what::all_gather, 0, sizeof(T)), detail::collective_of::all_gather(value));
  }
  template <class T, std::size_t N>
  auto async_all_gather(std::span<T, N> block) -> future<blocks<std::remove_const_t<T>>> {
    return later(of(what::all_gather), detail::collective_of::all_gather_blocks(std::span<const T>(block)));
  }

  /// `values` has a block of the same size for each member, in order of ranks; returns what they have for this one.
  /// Blocks of at most 256 bytes: O(log n) messages per member; longer ones n.
  template <class T, std::size_t N>
  auto all_to_all(std::span<T, N> values) -> std::vector<std::remove_const_t<T>> {
    return now(exchange_of(values.size(), sizeof(T)), detail::collective_of::all_to_all(std::span<const T>(values)));
  }
  /// The same for `counts[r]` elements for member r. One message to each member that gets any, and O(log n).
  template <class T, std::size_t N>
  auto all_to_all(std::span<T, N> values, std::span<const std::uint64_t> counts) -> blocks<std::remove_const_t<T>> {
    return now(exchange_of(values.size(), counts),
               detail::collective_of::all_to_all_blocks(std::span<const T>(values), counts));
  }
  template <class T, std::size_t N>
  auto async_all_to_all(std::span<T, N> values) -> future<std::vector<std::remove_const_t<T>>> {
    return later(exchange_of(values.size(), sizeof(T)), detail::collective_of::all_to_all(std::span<const T>(values)));
  }
  template <class T, std::size_t N>
  auto async_all_to_all(std::span<T, N> values, std::span<const std::uint64_t> counts)
      -> future<blocks<std::remove_const_t<T>>> {
    return later(exchange_of(values.size(), counts),
                 detail::collective_of::all_to_all_blocks(std::span<const T>(values), counts));
  }

  /// The members that give the same colour make a team, in order of `key`, then of rank here. O(n) values.
  team split(std::uint64_t colour, std::uint64_t key = 0);

private:
  called exchange_of(std::size_t values, std::size_t element_bytes) const;
  called exchange_of(std::size_t values, std::span<const std::uint64_t> counts) const;
  void check_root(std::uint32_t root) const;

  std::shared_ptr<detail::team_state> state_;
  std::shared_ptr<detail::team_group> group_;
  int exceptions_ = 0;  // in flight when it was made
};

}  // namespace shoal

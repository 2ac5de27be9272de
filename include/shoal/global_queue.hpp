// SPDX-License-Identifier: Apache-2.0
// Work in levels over all nodes: what is pushed while a level runs is the next level.
//   shoal::global_queue<vertex> frontier;
//   frontier->async_push(graph.owner(root), root);
//   const std::uint64_t levels = frontier.run([=, q = frontier.ref()](vertex v) {
//     for (vertex u : neighbours(v)) if (claim(u)) q.async_push(graph.owner(u), u);
//   });
// Who may call: tasks; push() and async_push() handlers, too. push() does not switch; async_push() only when buffers are
// full; run() switches.
// Guarantees: without exceptions each element is given to the function once, on the node that it was pushed to, on any of
// its workers; a level ends when all its calls, and what they began asynchronously, have ended. One run() at a time.
// Errors: an exception of the function ends the run after its level, as shoal::remote_error; iterations of the level that
// have not begun are dropped. What has been pushed for the next level stays.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "shoal/detail/container.hpp"
#include "shoal/detail/worker_bags.hpp"

namespace shoal {

namespace detail {
template <class T>
struct level_bags {
  explicit level_bags(const allocation_label& label)
      : next(container_kind::queue, label), current(container_kind::queue, label) {}
  worker_bags<T> next;  // is pushed to
  worker_bags<T> current;
};
template <class T>
struct append_to_level : at_node_local<level_bags<T>> {
  using arguments = std::tuple<T>;
  using result = nothing;
  static constexpr bool k_calls_program = false;
  static nothing run(level_bags<T>& bags, T&& value) {
    bags.next.append(std::move(value));
    return {};
  }
};
}  // namespace detail

/// The handle: trivially copyable, 8 bytes; valid while the queue exists.
template <class T>
class queue_ref {
  static_assert(serializable<T>);
  using bags = detail::level_bags<T>;

public:
  queue_ref() = default;
  explicit queue_ref(node_local_ref<bags> parts) noexcept : parts_(parts) {}

  /// For this node.
  void push(T value) const { parts_->next.append(std::move(value)); }
  /// For `node`; complete after wait(), or the end of the task or loop.
  void async_push(std::uint32_t node, const T& value) const {
    SHOAL_ASSERT(node < node_count(), "there is no such node; nodes are numbered from 0 to node_count() - 1");
    detail::async_invoke<detail::append_to_level<T>>(parts_, node, value);
  }
  /// Number of elements that wait for the next level, on all nodes. Nobody pushes meanwhile.
  std::uint64_t size() const {
    return detail::sum_over_shards(parts_, [](bags& b) { return b.next.size(); });
  }
  /// Runs levels until no element is left; returns how many had elements. f(value&) travels and may wait.
  template <class F>
  std::uint64_t run(const F& f) const {
    for (std::uint64_t levels = 0;; ++levels) {
      const std::uint64_t size = detail::sum_over_shards(parts_, [](bags& b) {
        b.current.clear();
        b.current.swap(b.next);
        return b.current.size();
      });
      if (size == 0) return levels;
      detail::on_all_shards(parts_, [f](bags& b) { b.current.visit(f); });
    }
  }

private:
  node_local_ref<bags> parts_;
};

/// Owns the elements; move-only.
template <class T>
class global_queue {
public:
  using ref_type = queue_ref<T>;

  /// Empty. `name`: in reports of memory. Switches tasks.
  explicit global_queue(std::string_view name = {}, code_place where = code_place::here())
      : global_queue(detail::allocation_label(name, where)) {}

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }
  template <class F>
  std::uint64_t run(const F& f) const {
    return ref_.run(f);
  }

private:
  explicit global_queue(const detail::allocation_label& label) : parts_(label, label), ref_(parts_.ref()) {}

  node_local<detail::level_bags<T>> parts_;
  ref_type ref_;
};

}  // namespace shoal

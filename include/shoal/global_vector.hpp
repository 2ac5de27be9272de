// SPDX-License-Identifier: Apache-2.0
// A sequence without an order, to which all tasks append: each node keeps what its tasks append, or what others send it.
//   shoal::global_vector<match> found;
//   shoal::parallel_for(shoal::everywhere, n, [f = found.ref()](std::uint64_t i) { if (fits(i)) f.push({i, rank(i)}); });
//   shoal::global_array<match> all = found.collect();
// Who may call: tasks; push() and async_push() handlers, too. push() does not switch; async_push() only when buffers are
// full; the others switch.
// Guarantees: push() from any number of workers needs no lock and no message. size(), for_each(), collect() and clear()
// want that nobody pushes meanwhile: they come after the loop that pushes.
// Elements: as keys of shoal/global_map.hpp; collect() wants trivially copyable ones.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "shoal/detail/container.hpp"
#include "shoal/detail/worker_bags.hpp"

namespace shoal {

/// The handle: trivially copyable, 8 bytes; valid while the vector exists.
template <class T>
class vector_ref {
  static_assert(serializable<T>);
  using bags = detail::worker_bags<T>;

public:
  vector_ref() = default;
  explicit vector_ref(node_local_ref<bags> parts) noexcept : parts_(parts) {}

  /// Appends on this node.
  void push(T value) const { parts_->append(std::move(value)); }
  /// Appends on `node`; complete after wait(), or the end of the task or loop.
  void async_push(std::uint32_t node, const T& value) const {
    SHOAL_ASSERT(node < node_count(), "there is no such node; nodes are numbered from 0 to node_count() - 1");
    detail::async_invoke<detail::append_to_bags<T>>(parts_, node, value);
  }

  /// Number of elements on all nodes, and on this one.
  std::uint64_t size() const {
    return detail::sum_over_shards(parts_, [](bags& b) { return b.size(); });
  }
  std::uint64_t local_size() const noexcept { return parts_->size(); }
  /// Calls f(element&) for all where they are, on all workers; f may wait.
  template <class F>
  void for_each(const F& f) const {
    detail::on_all_shards(parts_, [f](bags& b) { b.visit(f); });
  }
  void clear() const {
    detail::on_all_shards(parts_, [](bags& b) { b.clear(); });
  }
  /// All elements in an array, those of node 0 first.
  global_array<T> collect() const {
    static_assert(std::is_trivially_copyable_v<T>,
                  "collect() makes a global array: its elements are trivially copyable");
    global_array<std::uint64_t> firsts(node_count());  // of each node's elements
    parallel_for(owners_of(firsts), node_count(),
                 [parts = parts_, f = firsts.ref()](std::uint64_t n) { f.put(n, parts->size()); });
    std::vector<std::uint64_t> counts(node_count());
    firsts->get(0, std::span(counts));
    const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), std::uint64_t{0});
    firsts->put(0, std::span<const std::uint64_t>(counts));
    global_array<T> all(sum);
    parallel_for(owners_of(firsts), node_count(), [parts = parts_, f = firsts.ref(), a = all.ref()](std::uint64_t n) {
      std::uint64_t at = f.get(n);
      parts->for_each_part([&](std::span<T> part) {
        if (!part.empty()) a.async_put(at, std::span<const T>(part));
        at += part.size();
      });
    });
    return all;
  }

private:
  node_local_ref<bags> parts_;
};

/// Owns the elements; move-only.
template <class T>
class global_vector {
public:
  using ref_type = vector_ref<T>;

  /// Empty. `name`: in reports of memory. Switches tasks.
  explicit global_vector(std::string_view name = {}, code_place where = code_place::here())
      : global_vector(detail::allocation_label(name, where)) {}

  ref_type ref() const noexcept { return ref_; }
  operator ref_type() const noexcept { return ref_; }
  const ref_type* operator->() const noexcept { return &ref_; }
  global_array<T> collect() const { return ref_.collect(); }

private:
  explicit global_vector(const detail::allocation_label& label)
      : parts_(label, detail::container_kind::vector, label), ref_(parts_.ref()) {}

  node_local<detail::worker_bags<T>> parts_;
  ref_type ref_;
};

}  // namespace shoal

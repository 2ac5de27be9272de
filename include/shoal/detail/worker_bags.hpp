// SPDX-License-Identifier: Apache-2.0
// A node's part of global_vector and global_queue: one vector per worker, so that appending needs no lock.
// Who may call: append(): tasks and handlers of the node, on any worker, at the same time. The others: one task while
// nobody appends. visit() switches tasks, the others do not.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/invoke.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/loop.hpp"
#include "shoal/memory_use.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::detail {

/// Counts what vectors take and give back, not what they hold.
template <class T>
struct metered_allocator {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  metered_allocator() noexcept = default;
  explicit metered_allocator(memory_meter* by) noexcept : meter(by) {}

  T* allocate(std::size_t count) {
    T* const at = std::allocator<T>().allocate(count);
    if (meter != nullptr) meter->take(count * sizeof(T));
    return at;
  }
  void deallocate(T* at, std::size_t count) noexcept {
    std::allocator<T>().deallocate(at, count);
    if (meter != nullptr) meter->give_back(count * sizeof(T));
  }
  friend bool operator==(const metered_allocator&, const metered_allocator&) = default;

  memory_meter* meter = nullptr;
};

template <class T>
class worker_bags {
public:
  worker_bags(container_kind kind, const allocation_label& label)
      : meter_(std::make_unique<memory_meter>(kind, label)), count_(worker_here().siblings), bags_(new bag[count_]) {
    for (unsigned w = 0; w < count_; ++w) bags_[w].items = items_of(metered_allocator<T>(meter_.get()));
  }

  void append(T&& value) {
    const tsan_ignore_scope ignore;  // the worker's own vector, which all its stacks touch in turn
    bags_[worker_here().index].items.push_back(std::move(value));
  }
  std::uint64_t size() const noexcept {
    std::uint64_t sum = 0;
    for (unsigned w = 0; w < count_; ++w) sum += bags_[w].items.size();
    return sum;
  }
  void clear() noexcept {
    for (unsigned w = 0; w < count_; ++w) bags_[w].items.clear();  // their memory stays for the next ones
  }
  void swap(worker_bags& other) noexcept {
    std::swap(count_, other.count_);
    meter_.swap(other.meter_);
    bags_.swap(other.bags_);
  }
  /// f(value&) for all, on all workers.
  template <class F>
  void visit(const F& f) {
    parallel_for(here, count_, [&](unsigned w) {
      items_of& items = bags_[w].items;
      parallel_for(here, items.size(), [&items, &f](std::size_t i) { f(items[i]); });
    });
  }
  /// f(span) for each worker's values in turn.
  template <class F>
  void for_each_part(const F& f) {
    for (unsigned w = 0; w < count_; ++w) f(std::span<T>(bags_[w].items));
  }

private:
  using items_of = std::vector<T, metered_allocator<T>>;
  struct alignas(64) bag {
    items_of items;  // appended to by its worker only
  };
  std::unique_ptr<memory_meter> meter_;
  unsigned count_;
  std::unique_ptr<bag[]> bags_;
};

/// Appends to a node's part.
template <class T>
struct append_to_bags : at_node_local<worker_bags<T>> {
  using arguments = std::tuple<T>;
  using result = nothing;
  static constexpr bool k_calls_program = false;
  static nothing run(worker_bags<T>& bags, T&& value) {
    bags.append(std::move(value));
    return {};
  }
};

}  // namespace shoal::detail

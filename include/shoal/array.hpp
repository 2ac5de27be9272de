// SPDX-License-Identifier: Apache-2.0
// Global arrays: elements of any trivially copyable type, spread over the nodes, accessible from every task.
//   global_array<T> a(1'000'000);            owns the memory; move-only; freed by its destructor
//   shoal::array_ref<T> r = a;               a handle: lambdas capture it, messages carry it
//   r.put(i, v); T v = r.get(i);             complete when they return
//   r.async_add(i, 1); ... shoal::wait();    complete later; many share one message
// Who may call: tasks. Bare verbs, wait(), allocation and freeing may switch tasks; async_ verbs only when the buffers
// to a node are full. Guarantees: see docs/promises.md. Elements up to 8 bytes do not tear and their modifications are
// atomic. Complexity: O(1) per element; a message of 8 to 24 bytes where the owner's memory is not mapped.
// Errors: allocation throws shoal::error (out_of_memory). An index out of range is misuse (checked builds say so).
// Source: SYSTEMS: GMT (Morari 2014, chapter 5). Shown by tests/cluster/array_test.cpp, tests/cluster/litmus_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "shoal/array_options.hpp"
#include "shoal/detail/array_access.hpp"
#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/array_lists.hpp"
#include "shoal/detail/array_update.hpp"
#include "shoal/distribution.hpp"
#include "shoal/index_list.hpp"

namespace shoal {

/// Waits until all async_ operations of this task are complete. May switch.
inline void wait() { detail::settle_all(detail::this_port()); }
/// Its destructor calls wait(). For targets of async_ operations in a scope that an exception may leave; declare it
/// after the targets:
///   T got[8];
///   const shoal::wait_at_exit complete;
///   for (...) a.async_get(i, &got[k]);
class [[nodiscard]] wait_at_exit {
public:
  wait_at_exit() = default;
  wait_at_exit(const wait_at_exit&) = delete;
  wait_at_exit& operator=(const wait_at_exit&) = delete;
  ~wait_at_exit() { wait(); }
};
/// Sends the buffers of this worker. Does not wait.
inline void flush() noexcept { detail::flush_all(detail::port_here()); }

/// The memory that an array received.
struct memory_report {
  std::uint64_t asked_bytes = 0;   // on all nodes
  std::uint64_t huge_bytes = 0;    // of these, on pages of 2 MiB or 1 GiB
  std::uint64_t page_bytes = 0;    // the pages that most of a part is on: of the node where they are smallest
  std::string reason;              // why some of it is not on such pages; empty if all is
  std::uint32_t memory_nodes = 0;  // of a machine, that a sample of a part's pages lies on; 0: the system does not say
  std::string placement;           // why an array that was to be interleaved is not; empty if it is
};

/// A pointer to a node's own part of an array, valid on all nodes: 8 bytes, which each node turns into its address.
template <class T>
class symmetric_ptr {
public:
  symmetric_ptr() = default;
  explicit symmetric_ptr(std::uint64_t offset) noexcept : offset_(offset) {}
  /// This node's part. Plain memory.
  T* get() const noexcept {
    const detail::port& p = detail::this_port();
    return reinterpret_cast<T*>(p.bases[p.node] + offset_);
  }
  std::uint64_t offset() const noexcept { return offset_; }

private:
  std::uint64_t offset_ = 0;
};

/// A global array's handle: trivially copyable; valid while the array exists.
template <class T>
class array_ref {
  static_assert(std::is_trivially_copyable_v<T>, "elements of a global array are copied between nodes as they are");
  static constexpr bool k_is_element = detail::element_type<T>;

public:
  using value_type = T;

  array_ref() = default;
  explicit array_ref(const detail::array_layout& layout) noexcept : layout_(layout) {}

  std::uint64_t size() const noexcept { return layout_.size; }
  bool empty() const noexcept { return layout_.size == 0; }
  /// The node that holds element i.
  std::uint32_t owner(std::uint64_t i) const noexcept { return layout_.locate(i).node; }
  const detail::array_layout& layout() const noexcept { return layout_; }
  /// The id of the array in shoal/core.h, the same on all nodes, until it is freed; 0: an empty array.
  std::uint64_t id() const noexcept { return layout_.id(); }

  // --- bare verbs: complete when they return -------------------------------------------------------------------------
  T get(std::uint64_t i) const {
    if constexpr (k_is_element) {
      return run<detail::verb::get>(i, T{});
    } else {
      T value;
      get(i, std::span<T>(&value, 1));
      return value;
    }
  }
  void put(std::uint64_t i, const T& value) const {
    if constexpr (k_is_element)
      run<detail::verb::put>(i, value);
    else
      put(i, std::span<const T>(&value, 1));
  }
  void add(std::uint64_t i, T value) const { run<detail::verb::add>(i, value); }
  void min(std::uint64_t i, T value) const { run<detail::verb::min>(i, value); }
  void max(std::uint64_t i, T value) const { run<detail::verb::max>(i, value); }
  void bit_and(std::uint64_t i, T value) const { run<detail::verb::bit_and>(i, value); }
  void bit_or(std::uint64_t i, T value) const { run<detail::verb::bit_or>(i, value); }
  void bit_xor(std::uint64_t i, T value) const { run<detail::verb::bit_xor>(i, value); }
  // These return the old value.
  T fetch_add(std::uint64_t i, T value) const { return run<detail::verb::fetch_add>(i, value); }
  T fetch_min(std::uint64_t i, T value) const { return run<detail::verb::fetch_min>(i, value); }
  T fetch_max(std::uint64_t i, T value) const { return run<detail::verb::fetch_max>(i, value); }
  T fetch_and(std::uint64_t i, T value) const { return run<detail::verb::fetch_and>(i, value); }
  T fetch_or(std::uint64_t i, T value) const { return run<detail::verb::fetch_or>(i, value); }
  T fetch_xor(std::uint64_t i, T value) const { return run<detail::verb::fetch_xor>(i, value); }
  T exchange(std::uint64_t i, T value) const { return run<detail::verb::exchange>(i, value); }
  /// Stores `desired` if the element equals `expected`. Returns the old value: equal to `expected` if it stored.
  T compare_exchange(std::uint64_t i, T expected, T desired) const {
    return run<detail::verb::compare_exchange>(i, expected, desired);
  }

  // --- async verbs: complete by wait(), or the end of the task or loop -----------------------------------------------
  void async_put(std::uint64_t i, const T& value) const {
    if constexpr (k_is_element)
      begin<detail::verb::put>(i, value);
    else
      async_put(i, std::span<const T>(&value, 1));
  }
  void async_add(std::uint64_t i, T value) const { begin<detail::verb::add>(i, value); }
  void async_min(std::uint64_t i, T value) const { begin<detail::verb::min>(i, value); }
  void async_max(std::uint64_t i, T value) const { begin<detail::verb::max>(i, value); }
  void async_bit_and(std::uint64_t i, T value) const { begin<detail::verb::bit_and>(i, value); }
  void async_bit_or(std::uint64_t i, T value) const { begin<detail::verb::bit_or>(i, value); }
  void async_bit_xor(std::uint64_t i, T value) const { begin<detail::verb::bit_xor>(i, value); }
  /// The same, and whether the element changed: then *changes is one more when this is complete. Many operations of one
  /// task may share a count, which must live until wait(), as `target` below.
  void async_min(std::uint64_t i, T value, std::uint64_t* changes) const {
    begin<detail::verb::test_min>(i, value, changes);
  }
  void async_max(std::uint64_t i, T value, std::uint64_t* changes) const {
    begin<detail::verb::test_max>(i, value, changes);
  }
  void async_bit_and(std::uint64_t i, T value, std::uint64_t* changes) const {
    begin<detail::verb::test_and>(i, value, changes);
  }
  void async_bit_or(std::uint64_t i, T value, std::uint64_t* changes) const {
    begin<detail::verb::test_or>(i, value, changes);
  }
  /// `target` must live until wait() returns, also if an exception leaves the scope: see wait_at_exit.
  void async_get(std::uint64_t i, T* target) const {
    if constexpr (k_is_element)
      begin<detail::verb::get>(i, T{}, target);
    else
      async_get(i, std::span<T>(target, 1));
  }
  void async_fetch_add(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_add>(i, value, target); }
  void async_fetch_min(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_min>(i, value, target); }
  void async_fetch_max(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_max>(i, value, target); }
  void async_fetch_and(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_and>(i, value, target); }
  void async_fetch_or(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_or>(i, value, target); }
  void async_fetch_xor(std::uint64_t i, T value, T* target) const { begin<detail::verb::fetch_xor>(i, value, target); }
  void async_exchange(std::uint64_t i, T value, T* target) const { begin<detail::verb::exchange>(i, value, target); }
  void async_compare_exchange(std::uint64_t i, T expected, T desired, T* target) const {
    begin<detail::verb::compare_exchange>(i, expected, target, desired);
  }

  // --- many elements at once, from i on ------------------------------------------------------------------------------
  void get(std::uint64_t i, std::span<T> target) const {
    detail::bulk_get(layout_, i, target.data(), target.size(), detail::copy_unit<T>());
    detail::settle_bulk(layout_, i, target.size());
  }
  void put(std::uint64_t i, std::span<const T> values) const {
    detail::bulk_put(layout_, i, values.data(), values.size(), detail::copy_unit<T>());
    detail::settle_bulk(layout_, i, values.size());
  }
  /// `target` must live until wait(), as above.
  void async_get(std::uint64_t i, std::span<T> target) const {
    detail::bulk_get(layout_, i, target.data(), target.size(), detail::copy_unit<T>());
  }
  /// Copies the values before it returns.
  void async_put(std::uint64_t i, std::span<const T> values) const {
    detail::bulk_put(layout_, i, values.data(), values.size(), detail::copy_unit<T>());
  }

  // --- the elements of a list of indices, one value for each ---------------------------------------------------------
  /// values[k] = element indices[k].
  void gather(index_list indices, std::span<T> values) const { detail::settle_list(begin_gather(indices, values)); }
  /// `values` must live until wait(), as above; the indices only until this returns.
  void async_gather(index_list indices, std::span<T> values) const { begin_gather(indices, values); }
  /// Element indices[k] = values[k]. Of several values for one element, any may be the one that remains.
  void scatter(index_list indices, std::span<const T> values) const {
    detail::settle_list(begin_scatter<detail::verb::put>(indices, values));
  }
  /// Copies the values before it returns.
  void async_scatter(index_list indices, std::span<const T> values) const {
    begin_scatter<detail::verb::put>(indices, values);
  }
  /// Adds values[k] to element indices[k].
  void scatter_add(index_list indices, std::span<const T> values) const {
    detail::settle_list(begin_scatter<detail::verb::add>(indices, values));
  }
  void async_scatter_add(index_list indices, std::span<const T> values) const {
    begin_scatter<detail::verb::add>(indices, values);
  }
  void async_scatter_min(index_list indices, std::span<const T> values) const {
    begin_scatter<detail::verb::min>(indices, values);
  }
  void async_scatter_max(index_list indices, std::span<const T> values) const {
    begin_scatter<detail::verb::max>(indices, values);
  }

  // --- functions of the program, where the element is ----------------------------------------------------------------
  /// f(T&) on element i, and its result. Atomic with all other modifications of the element if that has 1, 2, 4 or 8
  /// bytes, else with other updates of it. f must not wait, and may run more than once: it only changes the element. f and
  /// its result travel: trivially copyable, f of at most 500 bytes.
  ///   r.update(i, [step](float& x) { x = 0.9F * x + step; });
  template <class F>
  requires std::invocable<const F&, T&>
  auto update(std::uint64_t i, const F& f) const -> detail::update_result<T, F> {
    return detail::run_update<T>(layout_, i, f);
  }
  template <class F>
  requires std::invocable<const F&, T&>
  void async_update(std::uint64_t i, const F& f) const { detail::begin_update<T>(layout_, i, f); }

  /// Sets every element. May switch.
  void fill(const T& value) const {
    if constexpr (sizeof(T) <= detail::k_most_fill_bytes) {
      detail::fill(layout_, &value, detail::copy_unit<T>());
    } else {
      for (std::uint64_t i = 0; i < size(); ++i) async_put(i, value);
      settle();
    }
  }
  /// Copies `count` elements of `from`, from element `from_i` on, to this array from `to_i` on. Within one
  /// array the two ranges may overlap: the result is that of memmove. May switch.
  void copy(std::uint64_t to_i, const array_ref& from, std::uint64_t from_i, std::uint64_t count) const {
    detail::copy(layout_, to_i, from.layout_, from_i, count, detail::copy_unit<T>());
  }

  // --- this node's part ----------------------------------------------------------------------------------------------
  /// The elements that this node holds, in ascending order of their indices. Plain memory: other tasks may access it
  /// too.
  std::span<T> local() const noexcept {
    const auto range = local_range();
    return {reinterpret_cast<T*>(detail::this_port().bases[detail::this_port().node] + layout_.offset),
            static_cast<std::size_t>(range.count)};
  }
  symmetric_ptr<T> symmetric() const noexcept { return symmetric_ptr<T>(layout_.offset); }
  /// Their indices: range.index(0) ... range.index(range.count - 1).
  detail::array_layout::range local_range() const noexcept { return layout_.local_range(detail::this_port().node); }

private:
  template <detail::verb V>
  T run(std::uint64_t i, T value, T desired = T{}) const {
    static_assert(k_is_element, "this operation needs elements of 1, 2, 4 or 8-byte integers, float or double");
    static_assert(detail::k_has_verb<V, T>, "bit operations need integers; bool has put, get, min, max and exchanges");
    return detail::run_access<V, T>(layout_, i, value, desired);
  }
  template <detail::verb V>
  void begin(std::uint64_t i, T value, detail::reply_target<V, T>* target = nullptr, T desired = T{}) const {
    static_assert(k_is_element, "this operation needs elements of 1, 2, 4 or 8-byte integers, float or double");
    static_assert(detail::k_has_verb<V, T>, "bit operations need integers; bool has put, get, min, max and exchanges");
    detail::begin_access<V, T>(layout_, i, value, target, desired);
  }
  // Whether some of it goes by messages.
  bool begin_gather(index_list indices, std::span<T> values) const {
    check_list(indices, values.size());
    if constexpr (detail::k_has_carrier<T>) {
      return indices.visit(
          [&](auto first) { return detail::gather_list<T>(layout_, first, indices.size(), values.data()); });
    } else {
      bool by_messages = false;
      for (std::size_t k = 0; k < indices.size(); ++k) {
        async_get(indices[k], &values[k]);
        by_messages |= !is_mapped(indices[k]);
      }
      return by_messages;
    }
  }
  template <detail::verb V>
  bool begin_scatter(index_list indices, std::span<const T> values) const {
    static_assert(k_is_element || V == detail::verb::put, "this operation needs elements that are numbers");
    check_list(indices, values.size());
    if constexpr (detail::k_has_carrier<T>) {
      return indices.visit(
          [&](auto first) { return detail::scatter_list<V, T>(layout_, first, indices.size(), values.data()); });
    } else {
      bool by_messages = false;
      for (std::size_t k = 0; k < indices.size(); ++k) {
        async_put(indices[k], values[k]);
        by_messages |= !is_mapped(indices[k]);
      }
      return by_messages;
    }
  }
  bool is_mapped(std::uint64_t i) const noexcept { return detail::this_port().bases[owner(i)] != nullptr; }
  static void check_list(index_list indices, std::size_t values) noexcept {
    SHOAL_ASSERT(indices.size() == values, "a gather or scatter needs as many values as indices");
  }
  static void settle() { detail::settle_all(detail::this_port()); }

  detail::array_layout layout_;
};

/// A global array: owner of its memory. One task allocates and frees it for all nodes. Freeing waits until all accesses
/// in flight to the array have been executed; for this each worker must once be between two tasks, or in a wait.
template <class T>
class global_array {
public:
  global_array() = default;
  /// `size` elements, zero; where: a `distribution`, or what a function of shoal/distribution.hpp returns. Throws
  /// shoal::error (out_of_memory) with the requested and the available bytes, and the largest arrays that there are.
  explicit global_array(std::uint64_t size, const distribution_plan& plan = distribution::partition,
                        const array_options& options = {}, code_place where = code_place::here())
      : global_array(size, plan, detail::allocation{options, where}) {}
  global_array(std::uint64_t size, const array_options& options, code_place where = code_place::here())
      : global_array(size, distribution::partition, detail::allocation{options, where}) {}
  /// For libraries, whose callers are to be named in reports.
  global_array(std::uint64_t size, const distribution_plan& plan, const detail::allocation& how)
      : ref_(detail::allocate_array(size, sizeof(T),  // NOLINT(bugprone-sizeof-expression): T may be a pointer
                                    detail::array_element<T>(), plan, how, &report_)) {}
  global_array(global_array&& other) noexcept
      : report_(std::move(other.report_)), ref_(std::exchange(other.ref_, array_ref<T>{})) {}
  global_array& operator=(global_array&& other) noexcept {
    if (this != &other) {
      free();
      report_ = std::move(other.report_);
      ref_ = std::exchange(other.ref_, array_ref<T>{});
    }
    return *this;
  }
  ~global_array() { free(); }

  array_ref<T> ref() const noexcept { return ref_; }
  operator array_ref<T>() const noexcept { return ref_; }
  const array_ref<T>* operator->() const noexcept { return &ref_; }
  std::uint64_t size() const noexcept { return ref_.size(); }
  const memory_report& memory() const noexcept { return report_; }

private:
  void free() noexcept {
    if (!ref_.empty()) detail::free_array(ref_.layout());
  }

  memory_report report_;
  array_ref<T> ref_;
};

}  // namespace shoal

// SPDX-License-Identifier: Apache-2.0
// Copies of what a node reads of an array on other nodes, for arrays that nobody modifies meanwhile:
//   const shoal::read_cache<double> ranks(rank);                   for all workers of all nodes
//   ... r = ranks.ref() ...  sum += r.get(u);                      a hit does not switch
// Who may call: tasks; handlers async_get(). Making and destroying it switches tasks, and so does get() of what is
// neither mapped nor here. Guarantees: as get() and async_get() of the array. While it exists, nobody modifies it:
// checked builds end the program at a verb that would; writes through local() are not noticed.
// Each worker has its own cache, of sets of four lines. A line has elements that follow each other at their owner, and
// is fetched once for all tasks of the worker that want it. Mapped memory is read directly.
// Memory: `bytes` per worker, 8 more per line, and up to 640 KiB for lines on their way. Errors: out_of_memory, perhaps
// remote. Worth it where few elements are read often and messages are dear: docs/measuring.md has figures.
// Shown by tests/cluster/array_stream_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/line_cache.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

struct read_cache_options {
  std::uint64_t bytes = std::uint64_t{1} << 18;  // of lines, per worker; more than a processor's cache is slow
  std::uint32_t line_elements = 1;               // a power of two. More where neighbours are read together
};

namespace detail {

/// A node's caches, one per worker.
class worker_caches {
public:
  worker_caches(const array_layout& layout, std::uint64_t lines, std::uint32_t line_bytes) : read_only_(layout) {
    caches_.reserve(worker_count());
    for (unsigned w = 0; w < worker_count(); ++w) caches_.push_back(std::make_unique<line_cache>(lines, line_bytes));
  }
  line_cache& of(unsigned worker) const noexcept { return *caches_[worker]; }
  read_cache_counts counts() const noexcept {
    read_cache_counts sum;
    for (const auto& c : caches_) sum = sum + c->counts();
    return sum;
  }

private:
  declared_read_only read_only_;
  std::vector<std::unique_ptr<line_cache>> caches_;
};

}  // namespace detail

/// A handle: trivially copyable; valid while the cache exists.
template <class T>
class read_cache_ref {
public:
  read_cache_ref() = default;
  read_cache_ref(const array_ref<T>& array, node_local_ref<detail::worker_caches> caches, unsigned shift) noexcept
      : array_(array), caches_(caches), shift_(shift) {}

  const array_ref<T>& array() const noexcept { return array_; }

  T get(std::uint64_t i) const {
    const detail::tsan_ignore_scope ignore;
    detail::port& p = detail::this_port();
    T value;
    detail::line_cache::wanted w;
    if (found(p, i, &value, w)) return value;
    if (detail::is_for_handlers(p) || !cache().read(whole(w), &value)) return array_.get(i);
    return value;
  }
  /// Complete by wait(); `target` must live until then.
  void async_get(std::uint64_t i, T* target) const {
    const detail::tsan_ignore_scope ignore;
    detail::port& p = detail::this_port();
    detail::line_cache::wanted w;
    if (found(p, i, target, w)) return;
    if (detail::is_for_handlers(p) || !cache().begin(whole(w), target)) array_.async_get(i, target);
  }

private:
  detail::line_cache& cache() const noexcept { return caches_->of(detail::worker_here().index); }

  /// False: it is to be fetched, and `w` says what.
  [[gnu::always_inline]] bool found(detail::port& p, std::uint64_t i, T* target, detail::line_cache::wanted& w) const {
    const detail::array_layout& layout = array_.layout();
    detail::check_index(p, layout, i);
    const auto at = layout.template locate<T>(i);
    detail::attend(p);
    if (const std::byte* const base = p.bases[at.node]; base != nullptr) {
      detail::copy_elements(target, base + at.offset, sizeof(T), detail::copy_unit<T>());
      return true;
    }
    const std::uint64_t position = (at.offset - layout.offset) / sizeof(T);
    const std::uint64_t in_line = position & ((std::uint64_t{1} << shift_) - 1);
    w.line = std::uint64_t{at.node} << detail::line_cache::k_node_shift | position >> shift_;
    w.element = static_cast<std::uint32_t>(in_line * sizeof(T));
    w.at = {at.node, at.offset - w.element};
    const std::byte* const line = cache().find(w.line);
    if (line == nullptr) return false;
    std::memcpy(target, line + w.element, sizeof(T));
    return true;
  }
  detail::line_cache::wanted& whole(detail::line_cache::wanted& w) const noexcept {
    const detail::array_layout& layout = array_.layout();
    const std::uint64_t first = (w.at.offset - layout.offset) / sizeof(T);
    const std::uint64_t left = layout.local_range(w.at.node).count - first;
    w.bytes = static_cast<std::uint32_t>(std::min(left, std::uint64_t{1} << shift_) * sizeof(T));
    w.element_bytes = sizeof(T);
    w.unit = detail::copy_unit<T>();
    if constexpr (detail::k_has_carrier<T>)
      w.code = detail::operation(detail::verb::get, detail::element_of<detail::carrier<T>>());
    else
      w.code = 0;
    return w;
  }

  array_ref<T> array_;
  node_local_ref<detail::worker_caches> caches_;
  unsigned shift_ = 0;  // elements per line, as a power of two
};

/// Owns the caches of all nodes; move-only.
template <class T>
class read_cache {
  static constexpr std::uint32_t k_most_line_bytes = 4096;

public:
  explicit read_cache(const array_ref<T>& array, const read_cache_options& options = {})
      : read_cache(array, options, shift_for(options.line_elements)) {}
  explicit read_cache(const global_array<T>& array, const read_cache_options& options = {})
      : read_cache(array.ref(), options) {}
  read_cache(read_cache&&) noexcept = default;
  read_cache& operator=(read_cache&&) = delete;
  ~read_cache() { wait(); }  // reads that this task has begun

  read_cache_ref<T> ref() const noexcept { return ref_; }
  operator read_cache_ref<T>() const noexcept { return ref_; }
  const read_cache_ref<T>* operator->() const noexcept { return &ref_; }
  /// Of all nodes so far, while no other task reads. Switches tasks.
  read_cache_counts counts() const {
    return parallel_reduce(
        everywhere, node_count(), read_cache_counts{}, [c = caches_.ref()](std::uint32_t) { return c->counts(); },
        std::plus<>());
  }

private:
  read_cache(const array_ref<T>& array, const read_cache_options& options, unsigned shift)
      : caches_(array.layout(), options.bytes / line_bytes(shift), line_bytes(shift)),
        ref_(array, caches_.ref(), shift) {}
  static constexpr std::uint32_t line_bytes(unsigned shift) noexcept {
    return static_cast<std::uint32_t>((sizeof(T) << shift) + 7) / 8 * 8;
  }
  static unsigned shift_for(std::uint32_t elements) noexcept {
    static_assert(sizeof(T) <= k_most_line_bytes, "elements of at most 4096 bytes can be cached");
    const std::uint32_t most = std::bit_floor(static_cast<std::uint32_t>(k_most_line_bytes / sizeof(T)));
    return static_cast<unsigned>(std::countr_zero(std::min(most, std::bit_ceil(std::max(elements, 1U)))));
  }

  node_local<detail::worker_caches> caches_;
  read_cache_ref<T> ref_;
};

}  // namespace shoal

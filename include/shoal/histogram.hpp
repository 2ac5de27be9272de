// SPDX-License-Identifier: Apache-2.0
// How many elements of a global array are in each bucket.
//   const auto counts = shoal::histogram(a, 256, [](std::uint32_t x) { return x >> 24; });   // a vector, on this node
//   shoal::global_array<std::uint64_t> many(1'000'000);
//   shoal::histogram(a, many, [](std::uint32_t x) { return x % 1'000'000; });                 // replaces all of `many`
// bucket_of(x): a number below the number of buckets (checked builds say so where it is not). It travels: trivially
// copyable; several workers call it at once; it does not wait.
// Who may call: tasks, while no other task changes the elements. Switches tasks.
// Complexity: a pass over the elements. Into a vector: O(log nodes) messages per node with all counts. Into an array: a
// node with at least as many elements as there are buckets sends its counts, else additions of one, in lists.
// Memory: 8 bytes per bucket, for each node and for each worker whose share has as many elements as there are buckets.
// Errors: shoal::error (out_of_memory). Shown by tests/cluster/algorithms_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/block_division.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/detail/scratch_memory.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/team.hpp"

namespace shoal {

namespace detail {

template <class F, class T>
concept bucket_function = std::is_trivially_copyable_v<F> && std::invocable<const F&, const T&> &&
    std::convertible_to<std::invoke_result_t<const F&, const T&>, std::uint64_t>;

template <class BucketOf, class T>
std::uint64_t checked_bucket(const BucketOf& bucket_of, const T& x, [[maybe_unused]] std::uint64_t buckets) {
  const auto bucket = static_cast<std::uint64_t>(bucket_of(x));
  SHOAL_CHECK(bucket < buckets, "a histogram's function gave a number that is not below the number of buckets");
  return bucket;
}

/// The counts of the elements of this node, by all its workers.
template <class T>
class part_histogram {
public:
  part_histogram(std::span<const T> own, std::uint64_t buckets)
      : own_(own),
        buckets_(buckets),
        division_(own.size(), std::max<std::uint64_t>(k_least_block, buckets), worker_count()),
        room_(scratch_memory::bytes_for<std::uint64_t>(division_.blocks * buckets), "counting"),
        counts_(room_.take<std::uint64_t>(division_.blocks * buckets)) {}

  template <class BucketOf>
  std::span<std::uint64_t> count(const BucketOf& bucket_of) {
    division_.run([&](std::size_t block) {
      std::uint64_t* const counts = counts_ + block * buckets_;
      std::fill_n(counts, buckets_, 0);
      for (const T& x : own_.subspan(division_.begin(block), division_.size(block)))
        ++counts[checked_bucket(bucket_of, x, buckets_)];
    });
    const block_division sums(buckets_, k_least_block, worker_count());
    if (division_.blocks > 1)
      sums.run([&](std::size_t part) {
        for (std::size_t k = 1; k < division_.blocks; ++k)
          for (std::size_t b = sums.begin(part); b < sums.begin(part + 1); ++b) counts_[b] += counts_[k * buckets_ + b];
      });
    return {counts_, static_cast<std::size_t>(buckets_)};
  }

private:
  static constexpr std::size_t k_least_block = std::size_t{1} << 14;

  std::span<const T> own_;
  std::uint64_t buckets_;
  block_division division_;
  scratch_memory room_;
  std::uint64_t* counts_;
};

/// Adds give(k, bucket), a count, to elements of `counts` for all k below `size`, by all workers and in lists. Counts
/// of zero are not sent.
template <class Count, class Give>
void add_in_lists(const array_ref<Count>& counts, std::uint64_t size, const Give& give) {
  constexpr std::size_t k_list = 1024;
  const block_division division(size, k_list, worker_count());
  division.run([&](std::size_t block) {
    std::vector<std::uint64_t> buckets(k_list);
    std::vector<Count> additions(k_list);
    std::size_t n = 0;
    const auto send = [&] {
      counts.async_scatter_add(std::span(buckets).first(n), std::span<const Count>(additions).first(n));
      n = 0;
    };
    for (std::size_t k = division.begin(block); k < division.begin(block + 1); ++k) {
      additions[n] = static_cast<Count>(give(k, buckets[n]));
      if (additions[n] != 0 && ++n == k_list) send();
    }
    send();
  });
}

}  // namespace detail

template <detail::global_elements Array, detail::bucket_function<detail::element_in<Array>> BucketOf>
std::vector<std::uint64_t> histogram(const Array& array, std::uint64_t buckets, const BucketOf& bucket_of) {
  using element = detail::element_in<Array>;
  if (buckets == 0) {
    SHOAL_ASSERT(array.size() == 0, "a histogram of elements needs buckets");
    return {};
  }
  return spmd([a = detail::handle_of(array), buckets, bucket_of, root = node_id()](team& t) {
    detail::part_histogram<element> part(a.local(), buckets);
    const std::span<std::uint64_t> counts = part.count(bucket_of);
    t.reduce(counts, std::plus<>{}, root);
    return t.rank() == root ? std::vector<std::uint64_t>(counts.begin(), counts.end()) : std::vector<std::uint64_t>{};
  });
}

/// `counts`: integers, an element for each bucket.
template <detail::global_elements Array, detail::global_elements Counts,
          detail::bucket_function<detail::element_in<Array>> BucketOf>
requires std::integral<detail::element_in<Counts>>
void histogram(const Array& array, const Counts& counts, const BucketOf& bucket_of) {
  using element = detail::element_in<Array>;
  if (counts.size() == 0) {
    SHOAL_ASSERT(array.size() == 0, "a histogram of elements needs buckets");
    return;
  }
  detail::handle_of(counts).fill(0);
  parallel_for(everywhere, node_count(),
               [a = detail::handle_of(array), to = detail::handle_of(counts), bucket_of](std::uint32_t) {
                 const std::span<const element> own = a.local();
                 const std::uint64_t buckets = to.size();
                 if (own.size() < buckets)
                   return detail::add_in_lists(to, own.size(), [&](std::size_t k, std::uint64_t& bucket) {
                     bucket = detail::checked_bucket(bucket_of, own[k], buckets);
                     return 1;
                   });
                 detail::part_histogram<element> part(own, buckets);
                 const std::span<const std::uint64_t> sums = part.count(bucket_of);
                 detail::add_in_lists(to, buckets, [&](std::size_t k, std::uint64_t& bucket) {
                   bucket = k;
                   return sums[k];
                 });
               });
}

}  // namespace shoal

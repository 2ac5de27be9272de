// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/random/indices.hpp"
#include "kernels/randperm/randperm.hpp"
#include "shoal/loop.hpp"

namespace shoal::kernels::randperm {
namespace {

constexpr std::uint64_t k_bucket_numbers = 1 << 15;  // about as many are in a bucket

/// The range of part `i` of `parts` equal ones.
std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t count, std::uint64_t i, std::uint64_t parts) {
  const auto bound = [&](std::uint64_t k) { return count / parts * k + std::min(k, count % parts); };
  return {bound(i), bound(i + 1)};
}

/// Numbers in the order of their buckets, in each bucket ascending.
struct dealt {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> sizes;  // by bucket
};

/// Deals [first, last), each worker a part of it: all count, then all place.
dealt deal(std::uint64_t first, std::uint64_t last, std::uint64_t buckets, std::uint64_t seed) {
  const std::uint64_t parts = std::min<std::uint64_t>(worker_count(), last - first);
  std::vector<std::vector<std::uint64_t>> places(parts, std::vector<std::uint64_t>(buckets));
  const auto for_part = [&](std::uint64_t p, const auto& f) {
    const auto [begin, end] = part_of(last - first, p, parts);
    for (std::uint64_t i = first + begin; i < first + end; ++i)
      f(places[p][random_indices::index_at(seed, i, buckets)], i);
  };
  parallel_for(0, parts, [&](std::uint64_t p) { for_part(p, [](std::uint64_t& count, std::uint64_t) { ++count; }); });
  dealt d{std::vector<std::uint64_t>(last - first), std::vector<std::uint64_t>(buckets)};
  std::uint64_t place = 0;
  for (std::uint64_t b = 0; b < buckets; ++b)
    for (auto& of_part : places) {
      d.sizes[b] += of_part[b];
      place += std::exchange(of_part[b], place);
    }
  parallel_for(0, parts,
               [&](std::uint64_t p) { for_part(p, [&](std::uint64_t& at, std::uint64_t i) { d.numbers[at++] = i; }); });
  return d;
}

void shuffle(std::span<std::uint64_t> numbers, xoshiro256ss random) {
  for (std::uint64_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
}

/// The sum of the sizes of a node's buckets, for each node.
std::vector<std::uint64_t> sums_by_node(const std::vector<std::uint64_t>& sizes, std::uint32_t nodes) {
  std::vector<std::uint64_t> sums(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const auto [begin, end] = part_of(sizes.size(), n, nodes);
    for (std::uint64_t b = begin; b < end; ++b) sums[n] += sizes[b];
  }
  return sums;
}

}  // namespace

void fast(const numbers& result, std::uint64_t seed) {
  const std::uint64_t buckets = std::max<std::uint64_t>(result.size() / k_bucket_numbers, 1);
  spmd([result, buckets, seed](team& t) {
    const auto [first, last] = part_of(result.size(), t.rank(), t.size());
    const dealt mine = deal(first, last, buckets, seed);
    const auto [first_bucket, last_bucket] = part_of(buckets, t.rank(), t.size());
    const std::vector<std::uint64_t> ones(buckets, 1);
    const blocks<std::uint64_t> sizes = t.all_to_all(std::span(mine.sizes), sums_by_node(ones, t.size()));
    const blocks<std::uint64_t> got = t.all_to_all(std::span(mine.numbers), sums_by_node(mine.sizes, t.size()));

    std::uint64_t before = t.exscan(got.values.size(), std::plus<>());
    std::vector<std::uint64_t> next(got.begins);  // by sender: its next bucket in `got`
    std::vector<std::uint64_t> room;
    for (std::uint64_t b = first_bucket; b < last_bucket; ++b) {
      room.clear();
      for (std::uint32_t sender = 0; sender < t.size(); ++sender) {
        const std::uint64_t size = sizes.of(sender)[b - first_bucket];
        const auto from =
            got.values.begin() + static_cast<std::ptrdiff_t>(std::exchange(next[sender], next[sender] + size));
        room.insert(room.end(), from, from + static_cast<std::ptrdiff_t>(size));
      }
      shuffle(room, xoshiro256ss(mix64(seed), b));
      result.async_put(before, std::span<const std::uint64_t>(room));
      before += room.size();
    }
  });
}

}  // namespace shoal::kernels::randperm

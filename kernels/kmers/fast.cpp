// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kmers/kmers.hpp"
#include "shoal/collectives.hpp"

namespace shoal::kernels::kmers {
namespace {

// The parts of all nodes: those of node n are [n * per_node, (n + 1) * per_node).
struct division {
  std::uint64_t parts;
  std::uint64_t per_node;

  std::uint64_t part_of(std::uint64_t kmer) const noexcept {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>(wide{hash_of(kmer)} * parts >> 64);
  }
};

// Some of a node's k-mers, those of one part behind those of another. A chunk of bases has a place in each part.
class divided {
public:
  divided(const shape& s, const division& d)
      : shape_(s), parts_(d), chunks_(4 * worker_count()), offsets_(chunks_ * d.parts), sizes_(d.parts) {}

  void take(std::span<const std::uint8_t> bases, std::size_t begin, std::size_t end) {
    const auto for_each_chunk = [&](const auto& f) {
      parallel_for(
          chunks_,
          [&](std::uint64_t c) {
            std::uint64_t* const by_part = &offsets_[c * parts_.parts];
            for_each_kmer(bases, begin + (end - begin) * c / chunks_, begin + (end - begin) * (c + 1) / chunks_, shape_,
                          [&](std::uint64_t kmer) { f(by_part[parts_.part_of(kmer)], kmer); });
          },
          simple_partitioner{1});
    };
    std::ranges::fill(offsets_, 0);
    for_each_chunk([](std::uint64_t& count, std::uint64_t) { ++count; });
    count_ = 0;
    for (std::uint64_t p = 0; p < parts_.parts; ++p) {
      const std::uint64_t before = count_;
      for (std::uint64_t c = 0; c < chunks_; ++c) count_ += std::exchange(offsets_[c * parts_.parts + p], count_);
      sizes_[p] = count_ - before;
    }
    if (kmers_.size() < count_) kmers_.resize(count_);
    for_each_chunk([&](std::uint64_t& offset, std::uint64_t kmer) { kmers_[offset++] = kmer; });
  }
  std::span<const std::uint64_t> kmers() const noexcept { return std::span(kmers_).first(count_); }
  /// By part.
  std::span<const std::uint64_t> sizes() const noexcept { return sizes_; }

private:
  const shape shape_;
  const division parts_;
  const std::uint64_t chunks_;
  std::vector<std::uint64_t> offsets_;  // by chunk and part
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> kmers_;
  std::uint64_t count_ = 0;
};

}  // namespace

void fast(node_local_ref<part_tables> tables, const base_store_ref& bases, const shape& s, std::uint64_t most_bases) {
  spmd([=](team& t) {
    constexpr std::uint64_t k_least_parts = 256;
    const auto most = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    const std::uint64_t wanted = std::max<std::uint64_t>(4 * t.all_reduce<std::uint64_t>(worker_count(), most), 1);
    const std::uint64_t per_node = std::bit_ceil(std::max(wanted, k_least_parts / t.size()));
    const division d{per_node * t.size(), per_node};
    const std::span<const std::uint8_t> mine = bases.local();
    const std::uint64_t rounds = t.all_reduce(mine.size() / most_bases + 1, most);
    std::vector<kmer_table>& counts = tables->of_part;
    counts.resize(per_node);
    divided own(s, d);
    for (std::uint64_t r = 0; r < rounds; ++r) {
      const std::size_t begin = std::min<std::size_t>(r * most_bases, mine.size());
      own.take(mine, begin, std::min<std::size_t>(begin + most_bases, mine.size()));
      // One node keeps its own.
      std::vector<std::uint64_t> all_sizes;
      blocks<std::uint64_t> arrived;
      if (t.size() > 1) {
        std::vector<std::uint64_t> sent(t.size());
        for (std::uint64_t p = 0; p < d.parts; ++p) sent[p / per_node] += own.sizes()[p];
        all_sizes = t.all_to_all(own.sizes());
        arrived = t.all_to_all(own.kmers(), std::span<const std::uint64_t>(sent));
      }
      const std::span<const std::uint64_t> sizes =
          t.size() > 1 ? std::span<const std::uint64_t>(all_sizes) : own.sizes();
      parallel_for(
          per_node,
          [&](std::uint64_t p) {
            for (std::uint32_t n = 0; n < t.size(); ++n) {
              const std::span<const std::uint64_t> by_part = sizes.subspan(n * per_node, per_node);
              const auto first =
                  std::accumulate(by_part.begin(), by_part.begin() + static_cast<std::ptrdiff_t>(p), std::uint64_t{0});
              counts[p].add((t.size() > 1 ? arrived.of(n) : own.kmers()).subspan(first, by_part[p]));
            }
          },
          simple_partitioner{1});
    }
  });
}

}  // namespace shoal::kernels::kmers

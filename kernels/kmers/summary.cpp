// SPDX-License-Identifier: Apache-2.0
// What a counting comes to, and what it must come to.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kernels/kmers/kmers.hpp"
#include "kernels/kmers/sequence_files.hpp"
#include "shoal/global_vector.hpp"

namespace shoal::kernels::kmers {
namespace {

using counted = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t check_of(std::uint64_t kmer, std::uint64_t count) noexcept { return mix64(mix64(kmer + 1) + count); }

bool is_more_frequent(const counted& a, const counted& b) noexcept {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

void keep_first(std::vector<counted>& all, std::size_t most) {
  const std::size_t n = std::min(most, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(n), is_more_frequent);
  all.resize(n);
}

// Each window of k letters is looked at by itself: no code of the forms.
void add_windows(const std::vector<std::uint8_t>& bases, const shape& s, std::vector<std::uint64_t>& kmers) {
  for (std::size_t begin = 0; begin + s.k <= bases.size(); ++begin) {
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
    unsigned i = 0;
    for (; i < s.k && bases[begin + i] != k_break; ++i) {
      forward = forward * 4 + bases[begin + i];
      backward += std::uint64_t{3U - bases[begin + i]} << (2 * i);
    }
    if (i < s.k) continue;
    kmers.push_back(s.canonical && backward < forward ? backward : forward);
  }
}

summary summary_of_sorted(std::vector<std::uint64_t> kmers, std::size_t most_frequent) {
  std::ranges::sort(kmers);
  summary sum;
  sum.total = kmers.size();
  std::vector<counted> all;
  for (std::size_t i = 0; i < kmers.size();) {
    std::size_t end = i;
    while (end < kmers.size() && kmers[end] == kmers[i]) ++end;
    ++sum.distinct;
    sum.checksum += check_of(kmers[i], end - i);
    all.emplace_back(kmers[i], end - i);
    if (all.size() > 2 * most_frequent + 1000) keep_first(all, most_frequent);
    i = end;
  }
  keep_first(all, most_frequent);
  sum.most_frequent = std::move(all);
  return sum;
}

}  // namespace

std::uint64_t number_of(const base_store_ref& bases, const shape& s) {
  return parallel_reduce(
      everywhere, node_count(), std::uint64_t{0},
      [bases, s](std::uint32_t) {
        return parallel_reduce(
            range1d(0, bases.local().size()), std::uint64_t{0},
            [&](const range1d& part, std::uint64_t sum) {
              for_each_kmer(bases.local(), part.begin(), part.end(), s, [&sum](std::uint64_t) { ++sum; });
              return sum;
            },
            std::plus<>());
      },
      std::plus<>());
}

summary summary_of(const counter& counts, std::size_t most_frequent) {
  global_array<std::uint64_t> checksum(1);
  counts.for_each([sum = checksum.ref()](std::uint64_t kmer, std::uint64_t n) { sum.async_add(0, check_of(kmer, n)); });
  return {counts.size(), counts.total(), checksum->get(0), counts.top_k(most_frequent)};
}

summary summary_of(node_local_ref<part_tables> tables, std::size_t most_frequent) {
  struct sums {
    std::uint64_t distinct = 0;
    std::uint64_t total = 0;
    std::uint64_t checksum = 0;
  };
  const auto plus = [](const sums& a, const sums& b) {
    return sums{a.distinct + b.distinct, a.total + b.total, a.checksum + b.checksum};
  };
  struct candidate {  // unlike a pair, trivially copyable
    std::uint64_t kmer;
    std::uint64_t count;
  };
  global_vector<candidate> candidates;
  const sums all = parallel_reduce(
      everywhere, node_count(), sums{},
      [=, to = candidates.ref()](std::uint32_t) {
        const std::vector<kmer_table>& parts = tables->of_part;
        return parallel_reduce(
            here, parts.size(), sums{},
            [&](std::size_t p) {
              sums own{.distinct = parts[p].size()};
              std::vector<counted> best;
              parts[p].for_each([&](std::uint64_t kmer, std::uint64_t count) {
                own.total += count;
                own.checksum += check_of(kmer, count);
                best.emplace_back(kmer, count);
                if (best.size() > 2 * most_frequent + 1000) keep_first(best, most_frequent);
              });
              keep_first(best, most_frequent);
              for (const auto& [kmer, count] : best) to.push({kmer, count});
              return own;
            },
            plus);
      },
      plus);
  const auto collected = candidates.collect();
  std::vector<candidate> read(collected.size());
  if (!read.empty()) collected->get(0, std::span(read));
  std::vector<counted> best;
  for (const candidate& c : read) best.emplace_back(c.kmer, c.count);
  keep_first(best, most_frequent);
  return {all.distinct, all.total, all.checksum, std::move(best)};
}

summary reference_of(const reads& all, std::uint64_t seed, const shape& s, std::size_t most_frequent) {
  std::vector<std::uint64_t> kmers;
  std::vector<std::uint8_t> one(all.length);
  for (std::uint64_t r = 0; r < all.count; ++r) {
    generate_read(all, seed, r, one.data());
    add_windows(one, s, kmers);
  }
  return summary_of_sorted(std::move(kmers), most_frequent);
}

summary reference_of(const std::vector<std::string>& paths, const shape& s, std::size_t most_frequent) {
  std::vector<std::uint64_t> kmers;
  for (const std::string& path : paths) {
    std::vector<std::uint8_t> bases;
    read_file(path, bases);
    add_windows(bases, s, kmers);
  }
  return summary_of_sorted(std::move(kmers), most_frequent);
}

std::string difference(const summary& found, const summary& expected, unsigned k) {
  const auto differs = [](const char* what, std::uint64_t a, std::uint64_t b) {
    return fmt::format("{} {} were found, but there are {}", a, what, b);
  };
  if (found.total != expected.total) return differs("k-mers", found.total, expected.total);
  if (found.distinct != expected.distinct) return differs("different k-mers", found.distinct, expected.distinct);
  for (std::size_t i = 0; i < std::min(found.most_frequent.size(), expected.most_frequent.size()); ++i) {
    const auto& [kmer, count] = found.most_frequent[i];
    if (found.most_frequent[i] != expected.most_frequent[i])
      return fmt::format("{} was counted {} times; number {} of the most frequent is another", letters_of(kmer, k),
                         count, i + 1);
  }
  if (found.checksum != expected.checksum || found.most_frequent.size() != expected.most_frequent.size())
    return "some k-mers have other counts than they must";
  return {};
}

}  // namespace shoal::kernels::kmers

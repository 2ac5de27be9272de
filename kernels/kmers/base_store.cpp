// SPDX-License-Identifier: Apache-2.0
#include "kernels/kmers/base_store.hpp"

#include <algorithm>
#include <functional>

#include "kernels/kmers/sequence_files.hpp"
#include "shoal/collectives.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::kmers {
namespace {

std::uint8_t genome_base(std::uint64_t seed, std::uint64_t i) noexcept {
  return static_cast<std::uint8_t>(splitmix64::at(mix64(seed), i / 32) >> (2 * (i % 32)) & 3);
}

std::vector<std::string> split(const std::string& joined) {
  std::vector<std::string> paths;
  for (std::size_t at = 0; at < joined.size(); at = joined.find('\0', at) + 1) paths.emplace_back(joined.c_str() + at);
  return paths;
}

// The parts of the files that are this node's, on all its workers.
void read_parts(node_bases& mine, std::uint32_t rank, std::uint32_t nodes, unsigned k) {
  const std::vector<std::string> paths = split(mine.paths);
  std::vector<text_part> parts;
  try {
    parts = parts_of(paths, std::uint64_t{4} * nodes * worker_count());
  } catch (const error&) {
    mine.failed_file = 0;
    return;
  }
  const std::uint64_t count = parts.size() > rank ? (parts.size() - rank - 1) / nodes + 1 : 0;
  mine.pieces.resize(count);
  std::vector<std::uint32_t> failed(count, ~std::uint32_t{0});
  parallel_for(range1d(0, count), [&](const range1d& some) {
    for (std::uint64_t i = some.begin(); i < some.end(); ++i) {
      const text_part& p = parts[rank + i * nodes];
      try {
        read_part(paths[p.file], p, k, mine.pieces[i]);
      } catch (const error&) {
        failed[i] = p.file;
      }
    }
  });
  for (const std::uint32_t f : failed) mine.failed_file = std::min(mine.failed_file, f);
  std::size_t bytes = 0;
  for (const auto& piece : mine.pieces) bytes += piece.size() + 1;
  mine.bases.reserve(bytes);
  for (auto& piece : mine.pieces) {
    mine.bases.insert(mine.bases.end(), piece.begin(), piece.end());
    mine.bases.push_back(k_break);
    std::vector<std::uint8_t>().swap(piece);
  }
}

}  // namespace

void generate_read(const reads& all, std::uint64_t seed, std::uint64_t r, std::uint8_t* to) {
  __extension__ using wide = unsigned __int128;
  const std::uint64_t choice = splitmix64::at(mix64(seed + 1), r);
  const auto begin = static_cast<std::uint64_t>(wide{choice} * (all.genome - all.length + 1) >> 64);
  const bool reverse = (mix64(choice) & 1) != 0;
  const auto limit = static_cast<std::uint64_t>(all.errors * 0x1p63) * 2;
  const std::uint64_t errors = mix64(seed + 2) ^ mix64(r);
  for (std::uint64_t i = 0; i < all.length; ++i) {
    const std::uint8_t base = genome_base(seed, reverse ? begin + all.length - 1 - i : begin + i);
    const std::uint64_t luck = splitmix64::at(errors, i);
    const bool wrong = luck < limit;
    to[i] = static_cast<std::uint8_t>(((reverse ? 3 - base : base) + (wrong ? 1 + mix64(luck) % 3 : 0)) % 4);
  }
}

std::uint64_t base_store_ref::size() const {
  return parallel_reduce(
      everywhere, node_count(), std::uint64_t{0},
      [parts = parts_](std::uint32_t) -> std::uint64_t { return parts->bases.size(); }, std::plus<>());
}

base_store::base_store(const reads& all, std::uint64_t seed) {
  parallel_for(everywhere, node_count(), [all, seed, parts = parts_.ref()](std::uint32_t) {
    const std::uint64_t first = all.count * node_id() / node_count();
    const std::uint64_t last = all.count * (node_id() + 1) / node_count();
    const std::uint64_t each = all.length + 1;
    parts->bases.resize((last - first) * each);
    parallel_for(range1d(first, last), [&](const range1d& some) {
      for (std::uint64_t r = some.begin(); r < some.end(); ++r) {
        std::uint8_t* const to = parts->bases.data() + (r - first) * each;
        generate_read(all, seed, r, to);
        to[all.length] = k_break;
      }
    });
  });
}

base_store::base_store(const std::vector<std::string>& paths, unsigned k) {
  parts_of(paths, 1);  // says here what cannot be opened
  for (const std::string& path : paths) parts_->paths += path + '\0';
  const std::uint32_t failed = spmd([parts = parts_.ref(), from = node_id(), k](team& t) {
    std::string& joined = parts->paths;
    joined.resize(t.broadcast(joined.size(), from));
    t.broadcast(std::span(joined), from);
    read_parts(*parts, t.rank(), t.size(), k);
    return t.all_reduce(parts->failed_file, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
  });
  if (failed < paths.size()) {
    std::vector<std::uint8_t> ignored;
    read_file(paths[failed], ignored);  // says here what is wrong with it
    throw error(errc::not_found, paths[failed] +
                                     ": another node cannot read what this one can; put the files where all "
                                     "nodes have them under the same name");
  }
}

}  // namespace shoal::kernels::kmers

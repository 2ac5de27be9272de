// SPDX-License-Identifier: Apache-2.0
// The bases that k-mers are counted in: a part on each node, one byte per base, with breaks (kmer.hpp) between reads.
//   base_store made(reads{.genome = 1 << 21, .length = 150, .count = 100'000}, seed);      base_store read(paths, 31);
// Generated reads begin anywhere in a random genome, are of either strand, and have wrong bases now and then; read r
// depends on the seed and r only.
// Who may call: tasks; construction switches, and blocks workers for the disk. Memory: one byte per base; twice as much
// while files are read.
// Errors: shoal::error as sequence_files.hpp; or if no sequence is as long as k.
// Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kmers/kmer.hpp"
#include "shoal/node_local.hpp"

namespace shoal::kernels::kmers {

struct reads {
  std::uint64_t genome = std::uint64_t{1} << 21;  // bases
  std::uint64_t length = 150;                     // of a read; not more than the genome
  std::uint64_t count = 0;
  double errors = 0.005;  // share of wrong bases
};

/// Read `r`: writes `length` bases.
void generate_read(const reads& all, std::uint64_t seed, std::uint64_t r, std::uint8_t* to);

/// A node's part.
struct node_bases {
  std::vector<std::uint8_t> bases;
  std::vector<std::vector<std::uint8_t>> pieces;  // while files are read: of the node's parts
  std::string paths;                              // the same: one behind the other, each with a 0 at its end
  std::uint32_t failed_file = ~std::uint32_t{0};  // the first of them that this node could not read
};

class base_store_ref {
public:
  base_store_ref() = default;
  explicit base_store_ref(node_local_ref<node_bases> parts) noexcept : parts_(parts) {}
  /// Of this node.
  std::span<const std::uint8_t> local() const noexcept { return parts_->bases; }
  /// Of all nodes. Switches.
  std::uint64_t size() const;

private:
  node_local_ref<node_bases> parts_;
};

/// Owns the bases; move-only.
class base_store {
public:
  base_store(const reads& all, std::uint64_t seed);
  base_store(const std::vector<std::string>& paths, unsigned k);
  base_store_ref ref() const noexcept { return base_store_ref(parts_.ref()); }

private:
  node_local<node_bases> parts_;
};

}  // namespace shoal::kernels::kmers

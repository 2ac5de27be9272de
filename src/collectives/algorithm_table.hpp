// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective operation uses, by the number of its members and the bytes that each has: one table for
// all operations, which the setting `collectives` changes.
// Who may call: any thread; a table is constant once it is made. All members of a group must have the same one.
// Never switches tasks. Test: tests/unit/collectives/algorithm_table_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/detail/collectives.hpp"

namespace shoal::collectives {

/// Those that have a choice.
enum class operation : std::uint8_t { broadcast, reduce, all_reduce, gather, scatter, all_gather, all_to_all };
inline constexpr std::size_t k_operations = 7;

enum class algorithm : std::uint8_t {
  binomial,      // broadcast, reduce, gather, scatter: along a tree; O(log n) messages
  scattered,     // broadcast: a block for each member down the tree, then an all-gather; each receives 2 times the data
  straight,      // gather, scatter: between each member and the root
  doubling,      // all-reduce: the whole vector to a partner in each of log n rounds
  rabenseifner,  // reduce, all-reduce: the vector is halved in each round; each byte is combined once
  bruck,         // all-gather, all-to-all: O(log n) messages
  ring,          // all-gather: n - 1 messages of one block, to the next member; up to k_longest_ring members
  pairwise       // all-to-all: a message to each member
};

/// Longer rings have too many steps: then all-gather is Bruck's.
inline constexpr std::uint32_t k_longest_ring = 64;

class algorithm_table {
public:
  /// The built-in one.
  algorithm_table();
  /// The built-in one with other rows: "all_gather 0 0 bruck, all_gather 4 64K ring". A row says: from so many members
  /// and bytes on; the last row of the operation that fits counts. Rows of an operation replace all of its built-in ones,
  /// and the first must be for 0 members and 0 bytes. Throws errc::invalid_argument, with the row.
  explicit algorithm_table(std::string_view rows);

  /// `bytes`: of the data; gather, scatter, all-gather and all-to-all: of one block, or the mean of blocks that differ.
  algorithm of(operation what, std::uint32_t members, std::size_t bytes) const noexcept {
    const std::vector<row>& rows = rows_[static_cast<std::size_t>(what)];
    for (std::size_t i = rows.size() - 1; i > 0; --i)
      if (members >= rows[i].members && bytes >= rows[i].bytes) return rows[i].use;
    return rows[0].use;
  }

  /// As the constructor reads it.
  std::string text() const;

private:
  struct row {
    std::uint32_t members;  // from so many on
    std::size_t bytes;
    algorithm use;
  };
  void read_row(std::string_view text, std::array<bool, k_operations>& replaced);

  std::array<std::vector<row>, k_operations> rows_;
};

/// The algorithm of an operation over that link.
algorithm chosen(const link& of, operation what, std::size_t bytes) noexcept;

}  // namespace shoal::collectives

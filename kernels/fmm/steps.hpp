// SPDX-License-Identifier: Apache-2.0
// The steps of the fast multipole method on ranges of cells [first, last). A step writes what its cells own, and reads
// what earlier steps of other cells have written, so that any order and any parallel execution that keeps these
// dependences is right:
//   up       of a cell: after up of its children
//   across   of a cell: after up of the cells in its V list (their spectra); also its X list, which is bodies
//   down     of a cell: after its own across, and down of its parent
//   far      of a leaf: after its own down, and up of the cells in its W list
//   near     of a leaf: at any time (its U list, body by body)
// Cells of levels 0 and 1 have no up, across and down: nothing is far from them.
// Who may call: any thread or task; nothing switches tasks. The memory of temporary vectors is the thread's.
// Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/fmm/operators.hpp"
#include "kernels/fmm/tree.hpp"

namespace shoal::kernels::fmm {

inline constexpr int k_first_far_level = 2;

class steps {
public:
  /// Keeps references to both.
  steps(const tree& t, const operators& o);

  void up(cell_number first, cell_number last);
  /// All of one level. `block`: so many groups of eight frequencies at a time for all cells of the range, so that the
  /// spectra of the V lists, which have most cells in common, stay in the cache. 0: all frequencies of a cell at once.
  void across(cell_number first, cell_number last, std::size_t block);
  void down(cell_number first, cell_number last);
  /// These two leave out what is no leaf.
  void far(cell_number first, cell_number last);
  void near(cell_number first, cell_number last);

  /// Sets the potentials to NaN, so that a check of the next run sees only what that has computed.
  void forget();
  /// What `near` and `far` have computed of a body, in the tree's order.
  double potential(std::uint32_t body) const noexcept { return near_[body] + far_[body]; }
  const tree& of() const noexcept { return t_; }

  /// The charges of a cell, for tasks that declare what they access.
  const double* charges_of(cell_number c) const noexcept { return up_.data() + c * n_; }
  const double* potentials_of(cell_number c) const noexcept { return across_.data() + c * n_; }
  const double* downward_of(cell_number c) const noexcept { return down_.data() + c * n_; }
  std::size_t points() const noexcept { return n_; }

private:
  void gather_of_children(cell_number first, cell_number last, double* potentials) const;

  const tree& t_;
  const operators& o_;
  std::size_t n_;
  std::vector<double> up_, across_, down_;  // n_ numbers of each cell
  std::vector<double> spectra_;
  std::vector<double> near_, far_;
};

}  // namespace shoal::kernels::fmm

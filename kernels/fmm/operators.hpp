// SPDX-License-Identifier: Apache-2.0
// The linear maps of the kernel-independent fast multipole method for the potential 1/r: between charges on the surfaces
// around a cell and potentials on them. All are for a cell of half side 1 and serve cells of any size: at k times the
// distance the potential is 1/k of it, so potentials are kept times the half side of their cell.
// Surfaces: the points of a cube's surface on a grid of `order` points per edge; the inner at 1.05 half sides, the outer
// at 2.95. Upward the equivalent charges are on the inner, downward on the outer surface.
// V lists: the inner surfaces of two cells of a level are parts of one grid, so the map between them is a convolution,
// done as a product of spectra (FFTW). Inverses are made by a singular value decomposition (Eigen).
// Source: Ying, Biros, Zorin, "A kernel-independent adaptive fast multipole algorithm in two and three dimensions" (2004).
// Who may call: any thread after construction; nothing switches tasks. Test: tests/unit/fmm/fmm_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/fmm/sums.hpp"

namespace shoal::kernels::fmm {

/// Column-major, square.
using matrix = std::vector<double>;

inline constexpr double k_inner = 1.05;
inline constexpr double k_outer = 2.95;

class operators {
public:
  /// Order 2 to 12. Takes a second at order 8, which is 7 digits; 4 is 4 digits, 6 is 5 to 6.
  explicit operators(int order);
  ~operators();
  operators(const operators&) = delete;
  operators& operator=(const operators&) = delete;

  int order() const noexcept { return order_; }
  /// Points of a surface.
  std::size_t points() const noexcept { return points_; }
  /// Of the inner surface of a cell of half side 1 around 0.
  std::span<const std::array<double, 3>> inner() const noexcept { return inner_; }
  std::span<const std::array<double, 3>> outer() const noexcept { return outer_; }

  /// `columns` vectors of points() numbers: y += map * x.
  void add_product(const matrix& map, const double* x, double* y, std::size_t columns) const;

  /// Potentials on the outer surface to charges on the inner one, in two steps that keep the precision.
  void charges_of_upward(const double* potentials, double* charges, std::size_t columns) const;
  /// Potentials on the inner surface to charges on the outer one.
  void charges_of_downward(const double* potentials, double* charges, std::size_t columns) const;

  /// Charges of a child (on its inner surface) to potentials on the parent's outer surface.
  const matrix& to_parent(unsigned octant) const noexcept { return to_parent_[octant]; }
  /// Charges of the parent (outer surface) to potentials on a child's inner surface.
  const matrix& to_child(unsigned octant) const noexcept { return to_child_[octant]; }

  /// Numbers of a spectrum, in groups (sums.hpp); the last is filled up with zeros.
  std::size_t spectrum_size() const noexcept { return 2 * k_group * groups_; }
  std::size_t groups() const noexcept { return groups_; }
  /// Of charges on the inner surface.
  void to_spectrum(const double* charges, double* spectrum) const;
  /// Adds to the potentials on the inner surface.
  void add_of_spectrum(const double* spectrum, double* potentials) const;
  /// The spectrum of the map between cells of one level: target minus source, in cells, each from -3 to 3.
  const double* between(std::array<int, 3> distance) const noexcept {
    return between_.data() + spectrum_size() * index_of(distance);
  }

private:
  struct transforms;

  static std::size_t index_of(std::array<int, 3> d) noexcept {
    const std::size_t x = static_cast<unsigned>(d[0] + 3), y = static_cast<unsigned>(d[1] + 3);
    return (x * 7 + y) * 7 + static_cast<unsigned>(d[2] + 3);
  }
  void make_surfaces();
  void make_inverses();
  void make_parents();
  void make_between();
  void apply(const matrix& first, const matrix& second, const double* x, double* y, std::size_t columns) const;

  int order_;
  std::size_t points_ = 0;
  std::size_t groups_ = 0;
  std::vector<std::array<double, 3>> inner_, outer_;
  std::vector<std::size_t> grid_places_;  // of the inner surface's points, in the grid of twice as many points per edge
  matrix upward_first_, upward_second_, downward_first_, downward_second_;
  std::array<matrix, 8> to_parent_, to_child_;
  std::vector<double> between_;
  std::unique_ptr<transforms> transforms_;
};

}  // namespace shoal::kernels::fmm

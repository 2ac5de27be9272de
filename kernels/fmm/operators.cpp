// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/operators.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <new>

#include "shoal/error.hpp"

namespace shoal::kernels::fmm {
namespace {

using eigen_matrix = Eigen::MatrixXd;
using point = std::array<double, 3>;

// Singular values below this part of the largest are noise.
constexpr double k_least_singular = 1e-14;

double inverse_distance(const point& a, const point& b) noexcept {
  return 1 / std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Charges at `from` to potentials at `to`.
eigen_matrix potentials(const std::vector<point>& to, const std::vector<point>& from) {
  eigen_matrix m(to.size(), from.size());
  for (std::size_t j = 0; j < from.size(); ++j)
    for (std::size_t i = 0; i < to.size(); ++i)
      m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = inverse_distance(to[i], from[j]);
  return m;
}

matrix plain(const eigen_matrix& m) { return {m.data(), m.data() + m.size()}; }

std::vector<point> moved(const std::vector<point>& surface, double scale, const point& by) {
  std::vector<point> all = surface;
  for (point& p : all)
    for (unsigned d = 0; d < 3; ++d) p[d] = p[d] * scale + by[d];
  return all;
}

point octant_centre(unsigned octant) noexcept {
  return {(octant & 1) != 0 ? 0.5 : -0.5, (octant & 2) != 0 ? 0.5 : -0.5, (octant & 4) != 0 ? 0.5 : -0.5};
}

std::size_t real_place(std::size_t frequency) noexcept {
  return frequency / k_group * 2 * k_group + frequency % k_group;
}

}  // namespace

struct operators::transforms {
  struct grid_memory {
    explicit grid_memory(std::size_t doubles)
        : numbers(static_cast<double*>(fftw_malloc(doubles * sizeof(double))), fftw_free) {
      if (numbers == nullptr) throw std::bad_alloc();
      std::fill_n(numbers.get(), doubles, 0.0);
    }
    std::unique_ptr<double, void (*)(void*)> numbers;
  };

  explicit transforms(int side)
      : grid(static_cast<std::size_t>(side) * side * side),
        frequencies(static_cast<std::size_t>(side) * side * (side / 2 + 1)) {
    grid_memory a(grid), b(2 * frequencies);
    auto* const numbers = reinterpret_cast<fftw_complex*>(b.numbers.get());
    forward = fftw_plan_dft_r2c_3d(side, side, side, a.numbers.get(), numbers, FFTW_MEASURE);
    backward = fftw_plan_dft_c2r_3d(side, side, side, numbers, a.numbers.get(), FFTW_MEASURE);
  }
  ~transforms() {
    fftw_destroy_plan(forward);
    fftw_destroy_plan(backward);
  }
  transforms(const transforms&) = delete;
  transforms& operator=(const transforms&) = delete;

  // Of this thread; a grid of zeros between uses.
  struct room {
    grid_memory grid;
    grid_memory numbers;
    std::size_t size;
  };
  room& own_room() const {
    thread_local std::unique_ptr<room> own;
    if (own == nullptr || own->size != grid)
      own = std::make_unique<room>(room{grid_memory(grid), grid_memory(2 * frequencies), grid});
    return *own;
  }

  std::size_t grid;
  std::size_t frequencies;
  fftw_plan forward;
  fftw_plan backward;
};

operators::operators(int order) : order_(order) {
  if (order < 2 || order > 12)
    throw error(errc::invalid_argument, fmt::format("an order of {} points per edge; give 2 to 12", order));
  make_surfaces();
  make_inverses();
  make_parents();
  make_between();
}

operators::~operators() = default;

void operators::make_surfaces() {
  const int last = order_ - 1;
  const std::size_t side = 2 * static_cast<std::size_t>(order_);
  for (int i = 0; i < order_; ++i)
    for (int j = 0; j < order_; ++j)
      for (int k = 0; k < order_; ++k) {
        if (i % last != 0 && j % last != 0 && k % last != 0) continue;
        const auto at = [last](int n) { return 2.0 * n / last - 1; };
        inner_.push_back({k_inner * at(i), k_inner * at(j), k_inner * at(k)});
        outer_.push_back({k_outer * at(i), k_outer * at(j), k_outer * at(k)});
        grid_places_.push_back((static_cast<std::size_t>(i) * side + static_cast<std::size_t>(j)) * side +
                               static_cast<std::size_t>(k));
      }
  points_ = inner_.size();
}

void operators::make_inverses() {
  const Eigen::BDCSVD<eigen_matrix> parts(potentials(outer_, inner_), Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::VectorXd inverse = parts.singularValues();
  for (double& s : inverse) s = s > k_least_singular * parts.singularValues()(0) ? 1 / s : 0;
  upward_first_ = plain(parts.matrixU().transpose());
  upward_second_ = plain(parts.matrixV() * inverse.asDiagonal());
  // The map between the same surfaces the other way is the transpose.
  downward_first_ = plain(parts.matrixV().transpose());
  downward_second_ = plain(parts.matrixU() * inverse.asDiagonal());
}

void operators::make_parents() {
  for (unsigned octant = 0; octant < 8; ++octant) {
    const std::vector<point> child_inner = moved(inner_, 0.5, octant_centre(octant));
    to_parent_[octant] = plain(potentials(outer_, child_inner));
    to_child_[octant] = plain(0.5 * potentials(child_inner, outer_));
  }
}

void operators::make_between() {
  const int side = 2 * order_;
  transforms_ = std::make_unique<transforms>(side);
  groups_ = (transforms_->frequencies + k_group - 1) / k_group;
  between_.assign(343 * spectrum_size(), 0.0);
  const double step = 2 * k_inner / (order_ - 1);
  transforms::room& room = transforms_->own_room();
  double* const grid = room.grid.numbers.get();
  for (int a = -3; a <= 3; ++a)
    for (int b = -3; b <= 3; ++b)
      for (int c = -3; c <= 3; ++c) {
        if (std::abs(a) <= 1 && std::abs(b) <= 1 && std::abs(c) <= 1) continue;
        const auto along = [&](int cells, int n) { return 2.0 * cells + step * (n < order_ ? n : n - side); };
        for (int i = 0, at = 0; i < side; ++i)
          for (int j = 0; j < side; ++j)
            for (int k = 0; k < side; ++k, ++at)
              grid[at] = inverse_distance({along(a, i), along(b, j), along(c, k)}, {0, 0, 0});
        auto* const numbers = reinterpret_cast<fftw_complex*>(room.numbers.numbers.get());
        fftw_execute_dft_r2c(transforms_->forward, grid, numbers);
        double* const spectrum = between_.data() + spectrum_size() * index_of({a, b, c});
        for (std::size_t f = 0; f < transforms_->frequencies; ++f)
          spectrum[real_place(f)] = numbers[f][0], spectrum[real_place(f) + k_group] = numbers[f][1];
      }
  std::fill_n(grid, transforms_->grid, 0.0);
}

void operators::add_product(const matrix& map, const double* x, double* y, std::size_t columns) const {
  const auto n = static_cast<Eigen::Index>(points_), m = static_cast<Eigen::Index>(columns);
  const Eigen::Map<const eigen_matrix> a(map.data(), n, n);
  if (columns == 1)
    Eigen::Map<Eigen::VectorXd>(y, n).noalias() += a * Eigen::Map<const Eigen::VectorXd>(x, n);
  else
    Eigen::Map<eigen_matrix>(y, n, m).noalias() += a * Eigen::Map<const eigen_matrix>(x, n, m);
}

void operators::apply(const matrix& first, const matrix& second, const double* x, double* y,
                      std::size_t columns) const {
  std::vector<double> between(points_ * columns);
  add_product(first, x, between.data(), columns);
  std::fill_n(y, points_ * columns, 0.0);
  add_product(second, between.data(), y, columns);
}

void operators::charges_of_upward(const double* potentials, double* charges, std::size_t columns) const {
  apply(upward_first_, upward_second_, potentials, charges, columns);
}
void operators::charges_of_downward(const double* potentials, double* charges, std::size_t columns) const {
  apply(downward_first_, downward_second_, potentials, charges, columns);
}

void operators::to_spectrum(const double* charges, double* spectrum) const {
  transforms::room& room = transforms_->own_room();
  double* const grid = room.grid.numbers.get();
  auto* const numbers = reinterpret_cast<fftw_complex*>(room.numbers.numbers.get());
  for (std::size_t i = 0; i < points_; ++i) grid[grid_places_[i]] = charges[i];
  fftw_execute_dft_r2c(transforms_->forward, grid, numbers);
  std::fill_n(grid, transforms_->grid, 0.0);
  for (std::size_t f = 0; f < transforms_->frequencies; ++f)
    spectrum[real_place(f)] = numbers[f][0], spectrum[real_place(f) + k_group] = numbers[f][1];
}

void operators::add_of_spectrum(const double* spectrum, double* potentials) const {
  transforms::room& room = transforms_->own_room();
  double* const grid = room.grid.numbers.get();
  auto* const numbers = reinterpret_cast<fftw_complex*>(room.numbers.numbers.get());
  for (std::size_t f = 0; f < transforms_->frequencies; ++f)
    numbers[f][0] = spectrum[real_place(f)], numbers[f][1] = spectrum[real_place(f) + k_group];
  fftw_execute_dft_c2r(transforms_->backward, numbers, grid);
  const double share = 1 / static_cast<double>(transforms_->grid);
  for (std::size_t i = 0; i < points_; ++i) potentials[i] += share * grid[grid_places_[i]];
  std::fill_n(grid, transforms_->grid, 0.0);
}

}  // namespace shoal::kernels::fmm

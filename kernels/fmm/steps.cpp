// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/steps.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/fmm/sums.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::kernels::fmm {
namespace {

// Steps of a thread use its memory one after the other. ThreadSanitizer takes stacks of tasks for threads, and is told so.
class turn_of_thread {
public:
  turn_of_thread() noexcept { shoal::detail::acquire_from(&mark()); }
  ~turn_of_thread() { shoal::detail::release_to(&mark()); }
  turn_of_thread(const turn_of_thread&) = delete;
  turn_of_thread& operator=(const turn_of_thread&) = delete;

private:
  static char& mark() noexcept {
    thread_local char own = 0;
    return own;
  }
};

// Memory of this thread, of at least that many numbers; what was in it is lost.
double* temporary(std::size_t which, std::size_t count) {
  thread_local std::array<std::vector<double>, 2> own;
  if (own[which].size() < count) own[which].resize(count);
  return own[which].data();
}

charges_at bodies_of(const tree& t, const cell& c) noexcept {
  return {t.sorted.x.data() + c.first, t.sorted.y.data() + c.first, t.sorted.z.data() + c.first,
          t.sorted.charge.data() + c.first, c.count};
}

// The points of a surface around a cell, as charges or as places.
struct placed_surface {
  placed_surface(std::span<const std::array<double, 3>> surface, const cell& c, double* room)
      : x(room), y(room + surface.size()), z(room + 2 * surface.size()), count(surface.size()) {
    const std::array<double, 3> centre = c.centre();
    const double half = c.half();
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = centre[0] + half * surface[i][0];
      y[i] = centre[1] + half * surface[i][1];
      z[i] = centre[2] + half * surface[i][2];
    }
  }
  charges_at with(const double* charges) const noexcept { return {x, y, z, charges, count}; }

  double* x;
  double* y;
  double* z;
  std::size_t count;
};

// Potentials of bodies on a surface, times the half side of its cell.
void add_potentials(const charges_at& from, const placed_surface& to, double half, double* potentials) {
  for (std::size_t i = 0; i < to.count; ++i) potentials[i] += half * potential_at(to.x[i], to.y[i], to.z[i], from);
}

}  // namespace

steps::steps(const tree& t, const operators& o)
    : t_(t),
      o_(o),
      n_(o.points()),
      up_(n_ * t.cells.size()),
      across_(n_ * t.cells.size()),
      down_(n_ * t.cells.size()),
      spectra_(o.spectrum_size() * t.cells.size()),
      near_(t.sorted.size()),
      far_(t.sorted.size()) {}

// By octant, so that one map serves the children of many cells.
void steps::gather_of_children(cell_number first, cell_number last, double* potentials) const {
  const std::size_t cells = last - first;
  double* const charges = temporary(1, 2 * n_ * cells);
  double* const products = charges + n_ * cells;
  for (unsigned octant = 0; octant < 8; ++octant) {
    std::size_t columns = 0;
    const auto each = [&](const auto& act) {
      columns = 0;
      for (cell_number c = first; c < last; ++c)
        if (const cell_number child = t_.cells[c].children[octant]; child != k_no_cell) act(c, child, columns++);
    };
    each([&](cell_number, cell_number child, std::size_t i) {
      std::copy_n(up_.data() + child * n_, n_, charges + i * n_);
    });
    if (columns == 0) continue;
    std::fill_n(products, columns * n_, 0.0);
    o_.add_product(o_.to_parent(octant), charges, products, columns);
    each([&](cell_number c, cell_number, std::size_t i) {
      for (std::size_t k = 0; k < n_; ++k) potentials[(c - first) * n_ + k] += products[i * n_ + k];
    });
  }
}

void steps::up(cell_number first, cell_number last) {
  const turn_of_thread turn;
  const std::size_t cells = last - first;
  std::vector<double> potentials(n_ * cells);
  gather_of_children(first, last, potentials.data());
  for (cell_number c = first; c < last; ++c) {
    const cell& of = t_.cells[c];
    if (!of.leaf) continue;
    const placed_surface outer(o_.outer(), of, temporary(0, 3 * n_));
    add_potentials(bodies_of(t_, of), outer, of.half(), potentials.data() + (c - first) * n_);
  }
  o_.charges_of_upward(potentials.data(), up_.data() + first * n_, cells);
  for (cell_number c = first; c < last; ++c)
    o_.to_spectrum(up_.data() + c * n_, spectra_.data() + c * o_.spectrum_size());
}

void steps::across(cell_number first, cell_number last, std::size_t block) {
  const turn_of_thread turn;
  const std::size_t cells = last - first, size = o_.spectrum_size(), groups = o_.groups();
  double* const sums = temporary(1, size * cells);
  std::fill_n(sums, size * cells, 0.0);
  const std::size_t width = block == 0 ? groups : block;
  for (std::size_t begin = 0; begin < groups; begin += width) {
    const std::size_t end = std::min(begin + width, groups);
    for (cell_number c = first; c < last; ++c) {
      const auto& to = t_.cells[c].at;
      for (const cell_number source : t_.v[c]) {
        const auto& from = t_.cells[source].at;
        const auto along = [&](unsigned d) { return static_cast<int>(to[d]) - static_cast<int>(from[d]); };
        add_spectrum_product(o_.between({along(0), along(1), along(2)}), spectra_.data() + source * size, begin, end,
                             sums + (c - first) * size);
      }
    }
  }
  for (cell_number c = first; c < last; ++c) {
    const cell& to = t_.cells[c];
    double* const potentials = across_.data() + c * n_;
    std::fill_n(potentials, n_, 0.0);
    if (!t_.v[c].empty()) o_.add_of_spectrum(sums + (c - first) * size, potentials);
    if (t_.x[c].empty()) continue;
    const placed_surface inner(o_.inner(), to, temporary(0, 3 * n_));
    for (const cell_number source : t_.x[c])
      add_potentials(bodies_of(t_, t_.cells[source]), inner, to.half(), potentials);
  }
}

void steps::down(cell_number first, cell_number last) {
  const turn_of_thread turn;
  const std::size_t cells = last - first;
  std::vector<double> potentials(across_.begin() + static_cast<std::ptrdiff_t>(first * n_),
                                 across_.begin() + static_cast<std::ptrdiff_t>(last * n_));
  if (t_.cells[first].level > k_first_far_level) {
    for (cell_number c = first; c < last; ++c) {
      const cell& of = t_.cells[c];
      const unsigned octant = (of.at[0] & 1) | (of.at[1] & 1) << 1 | (of.at[2] & 1) << 2;
      o_.add_product(o_.to_child(octant), down_.data() + of.parent * n_, potentials.data() + (c - first) * n_, 1);
    }
  }
  o_.charges_of_downward(potentials.data(), down_.data() + first * n_, cells);
}

void steps::far(cell_number first, cell_number last) {
  const turn_of_thread turn;
  for (cell_number c = first; c < last; ++c) {
    const cell& of = t_.cells[c];
    if (!of.leaf) continue;
    const auto add = [&](const placed_surface& surface, const double* charges) {
      const charges_at from = surface.with(charges);
      for (std::uint32_t i = of.first; i < of.first + of.count; ++i)
        far_[i] += potential_at(t_.sorted.x[i], t_.sorted.y[i], t_.sorted.z[i], from);
    };
    std::fill_n(far_.begin() + of.first, of.count, 0.0);
    if (of.level >= k_first_far_level) add(placed_surface(o_.outer(), of, temporary(0, 3 * n_)), down_.data() + c * n_);
    for (const cell_number w : t_.w[c])
      add(placed_surface(o_.inner(), t_.cells[w], temporary(0, 3 * n_)), up_.data() + w * n_);
  }
}

void steps::near(cell_number first, cell_number last) {
  for (cell_number c = first; c < last; ++c) {
    const cell& of = t_.cells[c];
    if (!of.leaf) continue;
    std::fill_n(near_.begin() + of.first, of.count, 0.0);
    for (const cell_number u : t_.u[c]) {
      const charges_at from = bodies_of(t_, t_.cells[u]);
      for (std::uint32_t i = of.first; i < of.first + of.count; ++i)
        near_[i] += potential_at(t_.sorted.x[i], t_.sorted.y[i], t_.sorted.z[i], from);
    }
  }
}

void steps::forget() {
  for (std::vector<double>* v : {&up_, &across_, &down_, &near_, &far_})
    std::fill(v->begin(), v->end(), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace shoal::kernels::fmm

// SPDX-License-Identifier: Apache-2.0
#include "rank/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "rank/error.hpp"

namespace shoal::rank {

std::vector<int> topology::coordinates(int rank) const {
  std::vector<int> at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    at[d] = rank % dims[d];
    rank /= dims[d];
  }
  return at;
}

int topology::rank_at(std::span<const int> coordinates) const {
  int rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    int c = coordinates[d];
    if (periods[d] != 0)
      c = (c % dims[d] + dims[d]) % dims[d];
    else if (c < 0 || c >= dims[d])
      return MPI_PROC_NULL;
    rank = rank * dims[d] + c;
  }
  return rank;
}

int topology::size() const noexcept {
  if (kind == MPI_GRAPH) return static_cast<int>(index.size());
  int n = 1;
  for (const int d : dims) n *= d;
  return n;
}

std::span<const int> topology::neighbours(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const int first = r == 0 ? 0 : index[r - 1];
  return std::span(edges).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(index[r] - first));
}

namespace {

// In each dimension the one below, then the one above.
std::vector<int> grid_neighbours(const topology& t, int rank) {
  std::vector<int> all;
  const std::vector<int> at = t.coordinates(rank);
  for (std::size_t d = 0; d < at.size(); ++d)
    for (const int step : {-1, 1}) {
      std::vector<int> other = at;
      other[d] += step;
      all.push_back(t.rank_at(other));
    }
  return all;
}

}  // namespace

std::vector<int> topology::sends_from(int rank) const {
  if (kind == MPI_CART) return grid_neighbours(*this, rank);
  if (kind == MPI_DIST_GRAPH) return destinations;
  const auto n = neighbours(rank);
  return {n.begin(), n.end()};
}

std::vector<int> topology::receives_at(int rank) const { return kind == MPI_DIST_GRAPH ? sources : sends_from(rank); }

namespace {

// The divisors of n in descending order.
std::vector<int> divisors(int n) {
  std::vector<int> low, high;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(static_cast<int>(d));
    if (d * d != n) high.push_back(static_cast<int>(n / d));
  }
  std::ranges::reverse(low);
  high.insert(high.end(), low.begin(), low.end());
  std::ranges::sort(high, std::greater());
  return high;
}

// The best division of n into `free` factors that are at most `limit`, in descending order: the one whose greatest
// factor is least, then the next greatest.
bool divide(int n, std::size_t free, int limit, std::vector<int>& into) {
  if (free == 1) {
    if (n > limit) return false;
    into.push_back(n);
    return true;
  }
  std::vector<int> candidates = divisors(n);
  std::ranges::reverse(candidates);
  for (const int d : candidates) {
    if (d > limit) return false;
    if (std::pow(d, static_cast<double>(free)) < n - 0.5) continue;
    into.push_back(d);
    if (divide(n / d, free - 1, d, into)) return true;
    into.pop_back();
  }
  return false;
}

}  // namespace

void balance(int ranks, std::span<int> dims) {
  std::int64_t fixed = 1;
  std::size_t free = 0;
  for (const int d : dims) {
    if (d < 0) throw mpi_error(MPI_ERR_DIMS, fmt::format("a dimension is {}, below 0", d));
    if (d == 0)
      ++free;
    else
      fixed = std::min<std::int64_t>(fixed * d, std::int64_t{1} << 31);  // more than there are ranks
  }
  if (ranks < 1 || ranks % fixed != 0 || (free == 0 && fixed != ranks))
    throw mpi_error(MPI_ERR_DIMS,
                    fmt::format("{} ranks cannot be divided by the product {} of the given dimensions", ranks, fixed));
  if (free == 0) return;
  std::vector<int> factors;
  divide(static_cast<int>(ranks / fixed), free, ranks, factors);
  std::size_t next = 0;
  for (int& d : dims)
    if (d == 0) d = factors[next++];
}

}  // namespace shoal::rank

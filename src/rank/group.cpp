// SPDX-License-Identifier: Apache-2.0
#include "rank/group.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shoal::rank {

group::group(int first, int count, int stride, std::vector<int> ranks)
    : handle_object(k_kind), first_(first), size_(count), stride_(stride), ranks_(std::move(ranks)) {
  by_world_.reserve(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) by_world_.emplace_back(ranks_[i], static_cast<int>(i));
  std::ranges::sort(by_world_);
}

group_ref group::of_range(int first, int count) { return group_ref(new group(first, count, 1, {})); }

group_ref group::of_ranks(std::vector<int> world) {
  const int n = static_cast<int>(world.size());
  if (n < 2) return of_range(n == 0 ? 0 : world[0], n);
  const int stride = world[1] - world[0];
  for (std::size_t i = 2; i < world.size(); ++i)
    if (world[i] - world[i - 1] != stride || stride == 0) return group_ref(new group(0, n, 1, std::move(world)));
  return group_ref(new group(world[0], n, stride, {}));
}

int group::rank_of(int world) const noexcept {
  if (ranks_.empty()) {
    const int distance = world - first_;
    const int rank = distance / stride_;
    return rank >= 0 && rank < size_ && rank * stride_ == distance ? rank : -1;
  }
  const auto at = std::ranges::lower_bound(by_world_, std::pair(world, 0));
  return at != by_world_.end() && at->first == world ? at->second : -1;
}

namespace {

template <class Wanted>
group_ref members_that(const group& g, std::vector<int> first, const Wanted& wanted) {
  for (int r = 0; r < g.size(); ++r)
    if (wanted(r, g.world_of(r))) first.push_back(g.world_of(r));
  return group::of_ranks(std::move(first));
}

// Checked: in the group, and each once.
std::vector<char> marked(const group& g, std::span<const int> ranks) {
  std::vector<char> marks(static_cast<std::size_t>(g.size()));
  for (const int r : ranks) {
    if (r < 0 || r >= g.size())
      throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is not in 0 to {} of the group", r, g.size() - 1));
    if (std::exchange(marks[static_cast<std::size_t>(r)], 1) != 0)
      throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is named twice", r));
  }
  return marks;
}

}  // namespace

group_ref united(const group& a, const group& b) {
  std::vector<int> all;
  for (int r = 0; r < a.size(); ++r) all.push_back(a.world_of(r));
  return members_that(b, std::move(all), [&a](int, int world) { return a.rank_of(world) < 0; });
}
group_ref intersected(const group& a, const group& b) {
  return members_that(a, {}, [&b](int, int world) { return b.rank_of(world) >= 0; });
}
group_ref without(const group& a, const group& b) {
  return members_that(a, {}, [&b](int, int world) { return b.rank_of(world) < 0; });
}

group_ref chosen(const group& g, std::span<const int> ranks) {
  marked(g, ranks);
  std::vector<int> world;
  for (const int r : ranks) world.push_back(g.world_of(r));
  return group::of_ranks(std::move(world));
}
group_ref not_chosen(const group& g, std::span<const int> ranks) {
  const std::vector<char> marks = marked(g, ranks);
  return members_that(g, {}, [&marks](int r, int) { return marks[static_cast<std::size_t>(r)] == 0; });
}

std::vector<int> ranks_of(const group& g, std::span<const int[3]> ranges) {
  std::vector<int> ranks;
  for (const auto& [first, last, stride] : ranges) {
    if (stride == 0) throw mpi_error(MPI_ERR_ARG, "the stride of a range of ranks is 0");
    if (first < 0 || first >= g.size())
      throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is not in 0 to {} of the group", first, g.size() - 1));
    for (std::int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      if (r < 0 || r >= g.size())
        throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is not in 0 to {} of the group", r, g.size() - 1));
      ranks.push_back(static_cast<int>(r));
    }
  }
  return ranks;
}

int compare(const group& a, const group& b) {
  if (a.size() != b.size()) return MPI_UNEQUAL;
  bool same = true;
  for (int r = 0; r < a.size(); ++r) {
    same = same && a.world_of(r) == b.world_of(r);
    if (!same && b.rank_of(a.world_of(r)) < 0) return MPI_UNEQUAL;
  }
  return same ? MPI_IDENT : MPI_SIMILAR;
}

}  // namespace shoal::rank

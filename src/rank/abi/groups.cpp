// SPDX-License-Identifier: Apache-2.0
// Groups (MPI 5.0, 7.3).
#include "rank/abi/arguments.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

void give(const group_ref& g, MPI_Group* result) {
  output(result) = MPI_GROUP_EMPTY;
  if (g->size() == 0) return;
  g.get()->add_reference();
  *result = handle_of<MPI_Group>(*g.get());
}

std::span<const int> ranks_given(int n, const int* ranks) {
  if (n < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("there are {} ranks, fewer than 0", n));
  if (n > 0) output(ranks);
  return {ranks, static_cast<std::size_t>(n)};
}

std::vector<int> ranges_given(const group& g, int n, int ranges[][3]) {
  if (n < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("there are {} ranges, fewer than 0", n));
  return ranks_of(g, {ranges, static_cast<std::size_t>(n)});
}

}  // namespace

extern "C" {

int PMPI_Group_size(MPI_Group h, int* size) {
  return enter([&](caller&) { output(size) = checked_group(h)->size(); });
}
MPI_ABI_ALIAS(Group_size)

int PMPI_Group_rank(MPI_Group h, int* rank) {
  return enter([&](caller& c) {
    const int r = checked_group(h)->rank_of(c.me.world);
    output(rank) = r < 0 ? MPI_UNDEFINED : r;
  });
}
MPI_ABI_ALIAS(Group_rank)

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  return enter([&](caller&) {
    const group_ref one = checked_group(group1);
    const group_ref two = checked_group(group2);
    const std::span<const int> ranks = ranks_given(n, ranks1);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const int r = ranks[i];
      int& to = output(ranks2 + i);
      if (r == MPI_PROC_NULL) {
        to = MPI_PROC_NULL;
        continue;
      }
      if (r < 0 || r >= one->size())
        throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is not in 0 to {} of the group", r, one->size() - 1));
      const int there = two->rank_of(one->world_of(r));
      to = there < 0 ? MPI_UNDEFINED : there;
    }
  });
}
MPI_ABI_ALIAS(Group_translate_ranks)

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  return enter([&](caller&) { output(result) = compare(*checked_group(group1), *checked_group(group2)); });
}
MPI_ABI_ALIAS(Group_compare)

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
  return enter([&](caller&) { give(united(*checked_group(group1), *checked_group(group2)), result); });
}
MPI_ABI_ALIAS(Group_union)

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
  return enter([&](caller&) { give(intersected(*checked_group(group1), *checked_group(group2)), result); });
}
MPI_ABI_ALIAS(Group_intersection)

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
  return enter([&](caller&) { give(without(*checked_group(group1), *checked_group(group2)), result); });
}
MPI_ABI_ALIAS(Group_difference)

int PMPI_Group_incl(MPI_Group h, int n, const int ranks[], MPI_Group* result) {
  return enter([&](caller&) { give(chosen(*checked_group(h), ranks_given(n, ranks)), result); });
}
MPI_ABI_ALIAS(Group_incl)

int PMPI_Group_excl(MPI_Group h, int n, const int ranks[], MPI_Group* result) {
  return enter([&](caller&) { give(not_chosen(*checked_group(h), ranks_given(n, ranks)), result); });
}
MPI_ABI_ALIAS(Group_excl)

int PMPI_Group_range_incl(MPI_Group h, int n, int ranges[][3], MPI_Group* result) {
  return enter([&](caller&) {
    const group_ref g = checked_group(h);
    give(chosen(*g, ranges_given(*g, n, ranges)), result);
  });
}
MPI_ABI_ALIAS(Group_range_incl)

int PMPI_Group_range_excl(MPI_Group h, int n, int ranges[][3], MPI_Group* result) {
  return enter([&](caller&) {
    const group_ref g = checked_group(h);
    give(not_chosen(*g, ranges_given(*g, n, ranges)), result);
  });
}
MPI_ABI_ALIAS(Group_range_excl)

int PMPI_Group_free(MPI_Group* h) {
  return enter([&](caller&) {
    if (output(h) != MPI_GROUP_EMPTY) object_of<group>(*h).drop_reference();
    *h = MPI_GROUP_NULL;
  });
}
MPI_ABI_ALIAS(Group_free)
}

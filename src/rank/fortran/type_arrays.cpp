// SPDX-License-Identifier: Apache-2.0
// Procedures with arrays of datatypes.
#include <mutex>
#include <set>
#include <vector>

#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

namespace {

using types = std::vector<MPI_Datatype>;

types types_at(const int* numbers, MPI_Count count) {
  types all(static_cast<std::size_t>(std::max<MPI_Count>(count, 0)));
  for (std::size_t i = 0; i < all.size(); ++i) take(numbers[i], all[i]);
  return all;
}

void give_types(const types& all, int* numbers) noexcept {
  for (std::size_t i = 0; i < all.size() && all[i] != MPI_DATATYPE_NULL; ++i) numbers[i] = number_of(all[i]);
}

// An array that lasts: operations that complete later read it then. Programs use few different ones.
const MPI_Datatype* lasting(types all) {
  static std::mutex mutex;
  static std::set<types> arrays;
  const std::lock_guard hold(mutex);
  return arrays.insert(std::move(all)).first->data();
}

struct sides {
  int sent = 0;
  int received = 0;
};

// How many blocks a rank gives and takes in an all-to-all operation; 0: the communicator is wrong, as the call will say.
sides ranks_of(MPI_Comm comm) noexcept {
  int between = 0;
  int size = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS) return {};
  if ((between != 0 ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size)) != MPI_SUCCESS) return {};
  return {size, size};
}

sides neighbours_of(MPI_Comm comm) noexcept {
  int kind = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return {};
  int n = 0;
  if (kind == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS) return {2 * n, 2 * n};
  int rank = 0;
  if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
      PMPI_Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS)
    return {n, n};
  sides both;
  int weighted = 0;
  if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &both.received, &both.sent, &weighted);
  return both;
}

// The arguments of an all-to-all operation with types, as C has them.
template <class Count, class Place>
struct all_to_all {
  all_to_all(const word* a, sides (*count)(MPI_Comm)) : comm(handle_at<MPI_Comm>(a[8])) {
    sent = address_of(a[0]);
    received = address_of(a[4]);
    const sides n = count(comm);
    if (sent != MPI_IN_PLACE) sent_types = lasting(types_at(static_cast<int*>(a[3]), n.sent));
    received_types = lasting(types_at(static_cast<int*>(a[7]), n.received));
    sent_counts = static_cast<Count*>(a[1]);
    sent_places = static_cast<Place*>(a[2]);
    received_counts = static_cast<Count*>(a[5]);
    received_places = static_cast<Place*>(a[6]);
  }
  template <class F, class... More>
  int call(F* function, More... more) const {
    return function(sent, sent_counts, sent_places, sent_types, received, received_counts, received_places,
                    received_types, comm, more...);
  }
  MPI_Comm comm;
  void* sent;
  void* received;
  const MPI_Datatype* sent_types = nullptr;
  const MPI_Datatype* received_types = nullptr;
  const Count* sent_counts;
  const Place* sent_places;
  const Count* received_counts;
  const Place* received_places;
};

template <class Count>
void make_struct(int (*function)(Count, const Count*,
                                 const std::conditional_t<sizeof(Count) == 4, MPI_Aint, MPI_Count>*,
                                 const MPI_Datatype*, MPI_Datatype*),
                 const Count* count, const Count* lengths, const MPI_Aint* places, const int* of, int* made,
                 int* ierror) {
  const types all = types_at(of, *count);
  MPI_Datatype result = MPI_DATATYPE_NULL;
  const int code = function(*count, lengths, places, all.data(), &result);
  *made = number_of(result);
  report(ierror, code);
}

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, type_create_struct,
                        (const int* count, const int* lengths, const MPI_Aint* places, const int* of, int* made,
                         int* ierror)) {
  make_struct<int>(PMPI_Type_create_struct, count, lengths, places, of, made, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, type_create_struct_c,
                        (const MPI_Count* count, const MPI_Count* lengths, const MPI_Count* places, const int* of,
                         int* made, int* ierror)) {
  make_struct<MPI_Count>(PMPI_Type_create_struct_c, count, lengths, places, of, made, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, type_get_contents,
                        (word type, const int* max_integers, const int* max_addresses, const int* max_types,
                         int* integers, MPI_Aint* addresses, int* of, int* ierror)) {
  types all(static_cast<std::size_t>(std::max(*max_types, 0)), MPI_DATATYPE_NULL);
  report(ierror, PMPI_Type_get_contents(handle_at<MPI_Datatype>(type), *max_integers, *max_addresses, *max_types,
                                        integers, addresses, all.data()));
  give_types(all, of);
}

SHOAL_FORTRAN_PROCEDURE(void, type_get_contents_c,
                        (word type, const MPI_Count* max_integers, const MPI_Count* max_addresses,
                         const MPI_Count* max_counts, const MPI_Count* max_types, int* integers, MPI_Aint* addresses,
                         MPI_Count* counts, int* of, int* ierror)) {
  types all(static_cast<std::size_t>(std::max<MPI_Count>(*max_types, 0)), MPI_DATATYPE_NULL);
  report(ierror, PMPI_Type_get_contents_c(handle_at<MPI_Datatype>(type), *max_integers, *max_addresses, *max_counts,
                                          *max_types, integers, addresses, counts, all.data()));
  give_types(all, of);
}

#define WORDS word a1, word a2, word a3, word a4, word a5, word a6, word a7, word a8, word a9
#define SHOAL_FORTRAN_ALL_TO_ALL(lower, Name, Count, Place, count)          \
  SHOAL_FORTRAN_PROCEDURE(void, lower, (WORDS, int* ierror)) {              \
    const word a[] = {a1, a2, a3, a4, a5, a6, a7, a8, a9};                  \
    report(ierror, (all_to_all<Count, Place>(a, count).call(PMPI_##Name))); \
  }
#define SHOAL_FORTRAN_ALL_TO_ALL_LATER(lower, Name, Count, Place, count)           \
  SHOAL_FORTRAN_PROCEDURE(void, lower, (WORDS, int* request, int* ierror)) {       \
    const word a[] = {a1, a2, a3, a4, a5, a6, a7, a8, a9};                         \
    MPI_Request made = MPI_REQUEST_NULL;                                           \
    report(ierror, (all_to_all<Count, Place>(a, count).call(PMPI_##Name, &made))); \
    *request = number_of(made);                                                    \
  }
#define SHOAL_FORTRAN_ALL_TO_ALL_INIT(lower, Name, Count, Place, count)                                       \
  SHOAL_FORTRAN_PROCEDURE(void, lower, (WORDS, word info, int* request, int* ierror)) {                       \
    const word a[] = {a1, a2, a3, a4, a5, a6, a7, a8, a9};                                                    \
    MPI_Request made = MPI_REQUEST_NULL;                                                                      \
    report(ierror, (all_to_all<Count, Place>(a, count).call(PMPI_##Name, handle_at<MPI_Info>(info), &made))); \
    *request = number_of(made);                                                                               \
  }
#define SHOAL_FORTRAN_ALL_FORMS(suffix, Count, Place)                                                              \
  SHOAL_FORTRAN_ALL_TO_ALL(alltoallw##suffix, Alltoallw##suffix, Count, Place, ranks_of)                           \
  SHOAL_FORTRAN_ALL_TO_ALL_LATER(ialltoallw##suffix, Ialltoallw##suffix, Count, Place, ranks_of)                   \
  SHOAL_FORTRAN_ALL_TO_ALL(neighbor_alltoallw##suffix, Neighbor_alltoallw##suffix, Count, MPI_Aint, neighbours_of) \
  SHOAL_FORTRAN_ALL_TO_ALL_LATER(ineighbor_alltoallw##suffix, Ineighbor_alltoallw##suffix, Count, MPI_Aint,        \
                                 neighbours_of)
SHOAL_FORTRAN_ALL_FORMS(, int, int)
SHOAL_FORTRAN_ALL_FORMS(_c, MPI_Count, MPI_Aint)
SHOAL_FORTRAN_ALL_TO_ALL_INIT(alltoallw_init, Alltoallw_init, int, int, ranks_of)
SHOAL_FORTRAN_ALL_TO_ALL_INIT(alltoallw_init_c, Alltoallw_init_c, MPI_Count, MPI_Aint, ranks_of)
SHOAL_FORTRAN_ALL_TO_ALL_INIT(neighbor_alltoallw_init, Neighbor_alltoallw_init, int, MPI_Aint, neighbours_of)
SHOAL_FORTRAN_ALL_TO_ALL_INIT(neighbor_alltoallw_init_c, Neighbor_alltoallw_init_c, MPI_Count, MPI_Aint, neighbours_of)

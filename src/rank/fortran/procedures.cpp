// SPDX-License-Identifier: Apache-2.0
// The regular procedures, one for each row of functions.inc; and the few that have no row's form.
#include <array>

#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

#define WORDS_0
#define WORDS_1 word a1,
#define WORDS_2 WORDS_1 word a2,
#define WORDS_3 WORDS_2 word a3,
#define WORDS_4 WORDS_3 word a4,
#define WORDS_5 WORDS_4 word a5,
#define WORDS_6 WORDS_5 word a6,
#define WORDS_7 WORDS_6 word a7,
#define WORDS_8 WORDS_7 word a8,
#define WORDS_9 WORDS_8 word a9,
#define WORDS_10 WORDS_9 word a10,
#define WORDS_11 WORDS_10 word a11,
#define WORDS_12 WORDS_11 word a12,
#define NAMES_0
#define NAMES_1 a1,
#define NAMES_2 NAMES_1 a2,
#define NAMES_3 NAMES_2 a3,
#define NAMES_4 NAMES_3 a4,
#define NAMES_5 NAMES_4 a5,
#define NAMES_6 NAMES_5 a6,
#define NAMES_7 NAMES_6 a7,
#define NAMES_8 NAMES_7 a8,
#define NAMES_9 NAMES_8 a9,
#define NAMES_10 NAMES_9 a10,
#define NAMES_11 NAMES_10 a11,
#define NAMES_12 NAMES_11 a12,
#define LENGTHS_0
#define LENGTHS_1 , std::size_t n1
#define LENGTHS_2 LENGTHS_1, std::size_t n2
#define LENGTH_NAMES_0
#define LENGTH_NAMES_1 n1,
#define LENGTH_NAMES_2 LENGTH_NAMES_1 n2,

namespace {

// The type of a function's parameters is known where its address is: a row with a wrong number does not compile.
template <std::size_t Words, class... A>
void call_checked(int* ierror, int (*function)(A...), const std::array<word, Words>& a, const std::size_t* lengths) {
  static_assert(sizeof...(A) + 1 == Words, "a row of functions.inc has a wrong number of arguments");
  call(ierror, function, a.data(), lengths);
}

}  // namespace

#define MPI_FORTRAN(count, texts, lower, name)                                        \
  SHOAL_FORTRAN_PROCEDURE(void, lower, (WORDS_##count int* ierror LENGTHS_##texts)) { \
    const std::array<word, count + 1> a{NAMES_##count nullptr};                       \
    const std::size_t lengths[] = {LENGTH_NAMES_##texts 0};                           \
    const call_site site(__builtin_return_address(0));                                \
    call_checked(ierror, PMPI_##name, a, lengths);                                    \
  }
#define MPI_FORTRAN_COUNTED(count, texts, lower, name) \
  MPI_FORTRAN(count, texts, lower, name)               \
  MPI_FORTRAN(count, texts, lower##_c, name##_c)
#define MPI_FORTRAN_BY_HAND(name)
#define MPI_FORTRAN_BY_HAND_COUNTED(name)
#include "rank/fortran/functions.inc"

SHOAL_FORTRAN_PROCEDURE(void, init, (int* ierror)) { report(ierror, PMPI_Init(nullptr, nullptr)); }

SHOAL_FORTRAN_PROCEDURE(void, init_thread, (const int* required, int* provided, int* ierror)) {
  report(ierror, PMPI_Init_thread(nullptr, nullptr, *required, provided));
}

SHOAL_FORTRAN_PROCEDURE(void, pcontrol, (const int* level)) { PMPI_Pcontrol(*level); }

SHOAL_FORTRAN_PROCEDURE(double, wtime, ()) { return PMPI_Wtime(); }

SHOAL_FORTRAN_PROCEDURE(double, wtick, ()) { return PMPI_Wtick(); }

SHOAL_FORTRAN_PROCEDURE(MPI_Aint, aint_add, (const MPI_Aint* base, const MPI_Aint* disp)) {
  return PMPI_Aint_add(*base, *disp);
}

SHOAL_FORTRAN_PROCEDURE(MPI_Aint, aint_diff, (const MPI_Aint* addr1, const MPI_Aint* addr2)) {
  return PMPI_Aint_diff(*addr1, *addr2);
}

// A buffer's address goes to programs of mpi_f08 alone, which have a type for it.
SHOAL_FORTRAN_PROCEDURE(void, buffer_detach, (word /*buffer_addr*/, int* size, int* ierror)) {
  void* at = nullptr;
  report(ierror, PMPI_Buffer_detach(&at, size));
}

SHOAL_FORTRAN_PROCEDURE(void, buffer_detach_cptr, (void** buffer_addr, int* size, int* ierror)) {
  report(ierror, PMPI_Buffer_detach(buffer_addr, size));
}

SHOAL_FORTRAN_PROCEDURE(void, buffer_detach_c, (void** buffer_addr, MPI_Count* size, int* ierror)) {
  report(ierror, PMPI_Buffer_detach_c(buffer_addr, size));
}

// Memory for a variable of the type C_PTR.
SHOAL_FORTRAN_PROCEDURE(void, alloc_mem_cptr, (const MPI_Aint* size, const int* info, void** baseptr, int* ierror)) {
  report(ierror, PMPI_Alloc_mem(*size, PMPI_Info_fromint(*info), baseptr));
}

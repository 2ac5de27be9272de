/* SPDX-License-Identifier: Apache-2.0 */
/* Before the second inclusion: the functions with large counts. */
#undef COUNT
#undef PLACE
#undef WIDE
#undef CALL
#undef NAMED
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define WIDE MPI_Count
#define CALL(name) MPI_##name##_c
#define NAMED(name) name##_large

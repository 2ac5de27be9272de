/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first inclusion of a file of tests that is compiled twice: functions with int counts. See large.h. */
#define COUNT int
#define PLACE int
#define WIDE MPI_Aint
#define CALL(name) MPI_##name
#define NAMED(name) name

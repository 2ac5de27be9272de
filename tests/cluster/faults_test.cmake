# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
# Jobs of several processes; not the two cases that look into the variables of jobs over shared memory.
set(over_ucx "faults.*-*before_it_joins*:*outlives_it*")

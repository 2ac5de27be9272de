# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
set(over_networks
    "*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped:progress_of_workers.*:progress_by_helpers.*")

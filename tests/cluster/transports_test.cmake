# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
set(serial TRUE)  # jobs of several processes yield to each other; beside other tests each yield takes a time slice

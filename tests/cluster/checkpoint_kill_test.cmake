# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
set(long_filter "checkpoint_kill.*200_times*")  # a minute or more

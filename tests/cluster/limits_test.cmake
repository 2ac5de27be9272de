# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
list(APPEND needs plugins)
set(serial TRUE)  # it changes limits of the whole machine for a moment

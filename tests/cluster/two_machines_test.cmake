# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
list(APPEND definitions SHOAL_REMOTE_SHELL="${CMAKE_CURRENT_LIST_DIR}/programs/in_namespace.sh")
set(long_filter "*/openmpi:*/mpich")  # ten seconds each

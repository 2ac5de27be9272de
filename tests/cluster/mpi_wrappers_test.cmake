# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
list(APPEND needs shoal_command mpi_host mpi_start_file)
list(APPEND definitions SHOAL_CONFORMANCE="${PROJECT_SOURCE_DIR}/tests/conformance")
set(unsanitized TRUE)

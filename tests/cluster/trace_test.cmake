# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
if(TARGET trace_otf2)
  list(APPEND needs trace_otf2)
endif()

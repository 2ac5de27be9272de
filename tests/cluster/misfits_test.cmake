# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/job_programs.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../unit/net/programs/bad_plugins.cmake)

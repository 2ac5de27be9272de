# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/programs/bad_plugins.cmake)
list(APPEND needs plugins)

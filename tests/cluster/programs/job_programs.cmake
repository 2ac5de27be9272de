# SPDX-License-Identifier: Apache-2.0
# For a test that starts programs of this folder.
list(APPEND needs cluster_programs)
if(TARGET shoal_command)
  list(APPEND definitions SHOAL_COMMAND="$<TARGET_FILE:shoal_command>"
                          SHOAL_PROGRAMS="${CMAKE_CURRENT_BINARY_DIR}/cluster/programs")
endif()

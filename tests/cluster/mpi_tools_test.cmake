# SPDX-License-Identifier: Apache-2.0
list(APPEND needs shoal_command mpi_host mpi_start_file)
list(APPEND definitions SHOAL_COMMAND="$<TARGET_FILE:shoal_command>"
                        SHOAL_PROGRAMS="${PROJECT_SOURCE_DIR}/tests/cluster/programs")
set(unsanitized TRUE)

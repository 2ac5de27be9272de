# SPDX-License-Identifier: Apache-2.0
set(label cluster)  # they start the command, and with it jobs
set(needs shoal_command plugins)
set(sources ${PROJECT_SOURCE_DIR}/tools/shoal/mpi_sweep.cpp ${PROJECT_SOURCE_DIR}/tools/shoal/fmm_picture.cpp
            ${PROJECT_SOURCE_DIR}/tools/shoal/noise_injection.cpp ${PROJECT_SOURCE_DIR}/tools/shoal/trace_kernel.cpp)
set(libraries shoal_bench shoal_tune)
set(definitions SHOAL_VERSION="${PROJECT_VERSION}"
                SHOAL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")  # some tests read data that the repository ships
if(TARGET shoal_fmm)
  list(APPEND definitions SHOAL_HAS_FMM)
endif()

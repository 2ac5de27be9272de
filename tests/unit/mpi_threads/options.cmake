# SPDX-License-Identifier: Apache-2.0
set(libraries shoal_mpi_threads nlohmann_json::nlohmann_json)

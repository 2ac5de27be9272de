# SPDX-License-Identifier: Apache-2.0
set(needs launch_pmix)
set(sources ${PROJECT_SOURCE_DIR}/bench/micro/light_nodes.cpp)

# SPDX-License-Identifier: Apache-2.0
find_package(OpenMP QUIET COMPONENTS CXX)
set(found ${OpenMP_CXX_FOUND})
set(hint "OpenMP of ${CMAKE_CXX_COMPILER}")
if(found)
  target_link_libraries(${runtime_library} INTERFACE OpenMP::OpenMP_CXX)
endif()

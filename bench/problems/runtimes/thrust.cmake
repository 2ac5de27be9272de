# SPDX-License-Identifier: Apache-2.0
# Headers only; on processors it needs no CUDA.
find_path(SHOAL_THRUST_INCLUDE thrust/sort.h)
mark_as_advanced(SHOAL_THRUST_INCLUDE)
find_package(OpenMP QUIET COMPONENTS CXX)
set(hint "Thrust (Debian: libthrust-dev) and OpenMP")
if(SHOAL_THRUST_INCLUDE AND OpenMP_CXX_FOUND)
  set(found TRUE)
  target_include_directories(${runtime_library} SYSTEM INTERFACE ${SHOAL_THRUST_INCLUDE})
  target_compile_definitions(${runtime_library} INTERFACE THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP)
  target_link_libraries(${runtime_library} INTERFACE OpenMP::OpenMP_CXX)
endif()

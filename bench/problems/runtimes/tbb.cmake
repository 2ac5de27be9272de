# SPDX-License-Identifier: Apache-2.0
find_package(TBB QUIET)
set(found ${TBB_FOUND})
set(hint "oneTBB (Debian: libtbb-dev)")
if(found)
  target_link_libraries(${runtime_library} INTERFACE TBB::tbb)
endif()

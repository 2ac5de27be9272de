# SPDX-License-Identifier: Apache-2.0
find_package(Boost 1.74 QUIET COMPONENTS fiber)
set(found ${Boost_FIBER_FOUND})
set(hint "Boost.Fiber (Debian: libboost-fiber-dev)")
if(found)
  target_link_libraries(${runtime_library} INTERFACE Boost::fiber)
endif()

# SPDX-License-Identifier: Apache-2.0
find_path(SHOAL_BOOST_SORT boost/sort/spreadsort/spreadsort.hpp)
mark_as_advanced(SHOAL_BOOST_SORT)
set(hint "Boost.Sort (Debian: libboost-dev)")
if(SHOAL_BOOST_SORT)
  set(found TRUE)
  target_include_directories(${runtime_library} SYSTEM INTERFACE ${SHOAL_BOOST_SORT})
endif()

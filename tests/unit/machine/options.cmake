# SPDX-License-Identifier: Apache-2.0
if(NOT TARGET private_variables)
  add_library(private_variables MODULE ${CMAKE_CURRENT_LIST_DIR}/programs/private_variables.cpp)
  add_library(keeping_library SHARED ${CMAKE_CURRENT_LIST_DIR}/programs/keeping_library.cpp)
  add_library(private_library MODULE ${CMAKE_CURRENT_LIST_DIR}/programs/private_library.cpp)
  target_link_libraries(private_library PRIVATE keeping_library)
  set_target_properties(private_variables private_library PROPERTIES PREFIX "" SUFFIX "")
endif()
list(APPEND needs private_variables private_library)
list(APPEND definitions SHOAL_PRIVATE_VARIABLES="$<TARGET_FILE:private_variables>"
            SHOAL_PRIVATE_LIBRARY="$<TARGET_FILE:private_library>")

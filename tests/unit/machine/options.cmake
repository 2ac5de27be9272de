# SPDX-License-Identifier: Apache-2.0
if(NOT TARGET private_variables)
  add_library(private_variables MODULE ${CMAKE_CURRENT_LIST_DIR}/programs/private_variables.cpp)
  set_target_properties(private_variables PROPERTIES PREFIX "" SUFFIX "")
endif()
list(APPEND needs private_variables)
list(APPEND definitions SHOAL_PRIVATE_VARIABLES="$<TARGET_FILE:private_variables>")

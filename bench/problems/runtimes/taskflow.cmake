# SPDX-License-Identifier: Apache-2.0
# Headers only, so that a copy of them serves too: -DSHOAL_TASKFLOW_INCLUDE=FOLDER.
find_path(SHOAL_TASKFLOW_INCLUDE taskflow/taskflow.hpp)
mark_as_advanced(SHOAL_TASKFLOW_INCLUDE)
set(hint "Taskflow (Debian 13: libtaskflow-cpp-dev)")
if(SHOAL_TASKFLOW_INCLUDE)
  set(found TRUE)
  target_include_directories(${runtime_library} SYSTEM INTERFACE ${SHOAL_TASKFLOW_INCLUDE})
endif()

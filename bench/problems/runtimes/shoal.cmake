# SPDX-License-Identifier: Apache-2.0
set(found TRUE)
target_link_libraries(${runtime_library} INTERFACE shoal)

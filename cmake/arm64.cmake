# SPDX-License-Identifier: Apache-2.0
# Cross compilation for arm64 with Debian's g++-aarch64-linux-gnu, and the tests under user-mode emulation. The libraries
# are those of SHOAL_SYSROOT, which arm64_sysroot.sh makes; `./dev arm64` does all of it. / is for a machine that has
# the arm64 packages installed beside its own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(SHOAL_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot CACHE PATH "folder with the libraries of arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SHOAL_SYSROOT)
cmake_path(ABSOLUTE_PATH SHOAL_SYSROOT NORMALIZE OUTPUT_VARIABLE sysroot)
if(NOT EXISTS ${sysroot}/usr/lib/aarch64-linux-gnu/libhwloc.so)
  message(FATAL_ERROR "there are no libraries of arm64 in ${sysroot}: call `./dev arm64`")
endif()
if(NOT sysroot STREQUAL "/")
  set(CMAKE_SYSROOT ${sysroot})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
endif()
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Compiler wrappers of MPI libraries are programs of the machine that they compile for.
set(SHOAL_WITH_MPI OFF CACHE BOOL "Look for MPI libraries")

set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/arm64_emulator.sh ${sysroot})

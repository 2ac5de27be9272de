# SPDX-License-Identifier: Apache-2.0
# The libraries that Shoal needs. All of them are packages of Debian and Ubuntu; `./dev` installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # used inline; nothing of it is linked
find_package(ZLIB REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
if(SHOAL_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(SHOAL_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

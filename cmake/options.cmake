# SPDX-License-Identifier: Apache-2.0
# The options of a build.
include(CMakeDependentOption)
option(SHOAL_BUILD_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_BUILD_TOOLS "build the shoal command, the kernels and the benchmarks" ON)
option(SHOAL_CHECKED "check arguments of the program, also on hot paths" OFF)
option(SHOAL_QUICK "compile the command, the kernels and the benchmarks with little optimisation, for tests only" OFF)
option(SHOAL_COVERAGE "instrument for coverage" OFF)
set(SHOAL_SANITIZE "" CACHE STRING "sanitizers to compile in: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Compile options of every target.
add_library(shoal_flags INTERFACE)
target_compile_options(shoal_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror=return-type)
# gcc 12 warns of its own std::stop_source, in every loop that takes a stop token.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(shoal_flags INTERFACE -Wno-maybe-uninitialized)
endif()
# Batches of files are compiled a tenth faster when the compiler collects its garbage later; each takes a fifth more memory.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(shoal_flags INTERFACE --param=ggc-min-expand=100 --param=ggc-min-heapsize=524288)
endif()
# For targets outside the library: with SHOAL_QUICK they are compiled with less optimisation.
function(shoal_around target)
  if(SHOAL_QUICK)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
if(SHOAL_CHECKED)
  add_compile_definitions(SHOAL_CHECKED=1)
endif()
if(SHOAL_SANITIZE)
  add_compile_options(-fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHOAL_SANITIZE})
  if(SHOAL_SANITIZE MATCHES thread)
    add_compile_definitions(SHOAL_TSAN=1)
    add_compile_options(-Wno-tsan)
  endif()
  if(SHOAL_SANITIZE MATCHES address)
    add_compile_definitions(SHOAL_ASAN=1)
    add_compile_options(-fno-sanitize=null)  # using a null pointer fails without this check, too
    # Undefined behaviour is an illegal instruction: a fifth less to compile than a call with the words for it. Where it
    # happened is told by the address sanitizer, if ASAN_OPTIONS has handle_sigill=1, and by gdb.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      add_compile_options(-fsanitize-undefined-trap-on-error)
    else()
      add_compile_options(-fsanitize-trap=undefined)
    endif()
  endif()
endif()
if(SHOAL_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# SPDX-License-Identifier: Apache-2.0
# An object library with one translation unit per header, which includes nothing else: a header that leans on what its
# users happen to have included does not compile.
function(shoal_header_units target root)  # ARGN: INCLUDE or EXCLUDE, and a regular expression for the headers' paths
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/*.hpp ${root}/*.h)
  list(FILTER headers EXCLUDE REGEX "/mpif\\.h$")  # of another language
  if(ARGN)
    list(FILTER headers ${ARGV2} REGEX ${ARGV3})
  endif()
  set(units)
  foreach(header ${headers})
    string(REPLACE "/" "_" name ${header})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(${target} OBJECT ${units})
  target_include_directories(${target} PRIVATE ${root})
  target_link_libraries(${target} PRIVATE shoal_flags Threads::Threads)
  target_compile_options(${target} PRIVATE -O0)  # nothing is run
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # in one unit with others a header could lean on them
endfunction()

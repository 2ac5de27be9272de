# SPDX-License-Identifier: Apache-2.0
# How the programs of tests are made. A file beside a program's sources (unit/FOLDER/options.cmake, cluster/NAME_test.cmake)
# may set:
#   label         of the program's tests, if it is not the folder's: unit, model, stress, cluster
#   libraries     targets to link besides the library; without one of them the program is left out
#   sources       more source files
#   definitions   for the compiler
#   includes      folders of headers
#   needs         targets that must be built before it runs; `plugins`: all network plugins
#   serial        TRUE: it runs while no other test does
#   shards        number of processes that share the cases, so that more than one processor takes part (1)
#   unsanitized   TRUE: left out where a sanitizer is compiled in
#   one_thread    TRUE: left out where the thread sanitizer is compiled in, which has nothing to see there
#   long_filter   cases for `ctest -C long` only, label long_LABEL: a filter of GoogleTest
#   over_networks, over_ucx, roles_over_networks, over_sim   see cluster/networks.cmake

# A test in the place of one that cannot be built here. ctest reports it as skipped, and ./dev counts it.
function(shoal_skipped_test name label reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "[  SKIPPED ] 1 test: ${reason}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_REGULAR_EXPRESSION "SKIPPED")
endfunction()

function(shoal_test name label options)  # ARGN: sources
  set(libraries "")
  set(sources "")
  set(definitions "")
  set(includes "")
  set(needs "")
  set(serial FALSE)
  set(shards 1)
  set(unsanitized FALSE)
  set(one_thread FALSE)
  set(long_filter "")
  set(over_networks "")
  set(over_ucx "")
  set(over_sim "")
  set(roles_over_networks "")
  include(${options} OPTIONAL)
  if((unsanitized AND SHOAL_SANITIZE) OR (one_thread AND SHOAL_SANITIZE MATCHES thread))
    return()
  endif()
  foreach(library ${libraries})
    if(NOT TARGET ${library})
      message(STATUS "tests without ${name}: there is no ${library}")
      shoal_skipped_test(${label}.${name} ${label} "there is no ${library}")
      return()
    endif()
  endforeach()
  add_executable(${name} ${ARGN} ${sources})
  target_link_libraries(${name} PRIVATE shoal_inside GTest::gtest GTest::gtest_main ${libraries})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR} ${includes})
  target_compile_definitions(${name} PRIVATE ${definitions})
  if(label MATCHES "^(unit|cluster)$")  # they take longer to compile than to run
    target_compile_options(${name} PRIVATE -Og)
    shoal_share_headers(${name} ${label} -Og)
  else()
    shoal_share_headers(${name} optimised)
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)  # headers take most of the time
  get_property(plugins GLOBAL PROPERTY SHOAL_PLUGINS)
  list(TRANSFORM needs REPLACE "^plugins$" "${plugins}")
  foreach(target ${needs})
    if(TARGET ${target})
      add_dependencies(${name} ${target})
    endif()
  endforeach()
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${name})

  set(filter "*")
  if(long_filter)
    set(filter "*-${long_filter}")
    add_test(NAME long.${name} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${long_filter}" CONFIGURATIONS long)
    set_tests_properties(long.${name} PROPERTIES LABELS long_${label} TIMEOUT 600)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    string(REGEX REPLACE "^(unit|model|stress|cluster)_" "\\1." test ${name})
    if(shards GREATER 1)
      string(APPEND test ".${shard}")
    endif()
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${filter}")
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 300 RUN_SERIAL ${serial})
    set(environment "")
    if(shards GREATER 1)
      list(APPEND environment GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${shard})
    endif()
    if(SHOAL_SANITIZE MATCHES address)
      list(APPEND environment ASAN_OPTIONS=handle_sigill=1)  # undefined behaviour (cmake/options.cmake)
    endif()
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}")
  endforeach()
  shoal_test_over_networks(${name} "${over_networks}" "${roles_over_networks}" "${over_ucx}")
  if(over_sim)
    shoal_test_over_sim(${name} "${over_sim}")
  endif()
endfunction()

# What nearly every test includes is parsed once: one program has it made, the others of the same flags use it.
function(shoal_share_headers name kind)
  set(donor headers_of_tests_${kind})
  if(NOT TARGET ${donor})
    file(CONFIGURE OUTPUT ${donor}.cpp CONTENT "int main() {}\n")
    add_executable(${donor} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${donor}.cpp)
    target_link_libraries(${donor} PRIVATE shoal_inside GTest::gtest)
    target_include_directories(${donor} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
    target_compile_options(${donor} PRIVATE ${ARGN})
    target_precompile_headers(${donor} PRIVATE <gtest/gtest.h> <fmt/format.h> <algorithm> <atomic> <chrono> <functional>
                              <memory> <random> <string> <thread> <vector>)
    if(kind STREQUAL cluster)  # reading it takes half of the time that such a program takes to compile
      target_precompile_headers(${donor} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cluster/cluster.hpp)
    endif()
  endif()
  target_precompile_headers(${name} REUSE_FROM ${donor})
endfunction()

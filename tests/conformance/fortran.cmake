# SPDX-License-Identifier: Apache-2.0
# The programs in Fortran of this folder, compiled by `shoal mpif90` and run with one and several ranks in one and several
# processes. A program ends with a status that is not zero if a result is wrong.
find_program(SHOAL_FORTRAN NAMES gfortran)
if(NOT SHOAL_FORTRAN)
  message(STATUS "tests/conformance without Fortran: there is no gfortran")
  shoal_skipped_test(conformance.fortran conformance "there is no Fortran compiler")
  return()
endif()
file(GLOB fortran_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/mpi-abi/fortran/*)
file(GLOB fortran_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fortran_*.f ${CMAKE_CURRENT_LIST_DIR}/fortran_*.f90)
if(NOT TARGET tests_conformance)
  add_custom_target(tests_conformance ALL)
endif()
foreach(source ${fortran_programs})
  get_filename_component(name ${source} NAME_WE)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
  # A program may have a part in C: the file of its name with _c.c.
  set(part ${CMAKE_CURRENT_LIST_DIR}/${name}_c.c)
  set(compile_part "")
  set(object "")
  if(EXISTS ${part})
    set(object ${program}_c.o)
    set(compile_part COMMAND $<TARGET_FILE:shoal_command> mpicc -O2 -Wall -Wextra -c ${part} -o ${object})
  else()
    set(part "")
  endif()
  # All compiled modules go into the build's own folders.
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${program}.modules
    ${compile_part}
    COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/cache SHOAL_MPI_FC=${SHOAL_FORTRAN}
            $<TARGET_FILE:shoal_command> mpif90 -O2 -w -J ${program}.modules ${source} ${object} -o ${program}
    DEPENDS ${source} ${part} ${fortran_parts} shoal_command mpi_abi mpi_host mpi_start_file VERBATIM)
  add_custom_target(tests_${name} DEPENDS ${program})
  add_dependencies(tests_conformance tests_${name})
  foreach(processes 1 2)
    foreach(ranks 1 4)
      set(test conformance.${name}.${processes}x${ranks})
      add_test(NAME ${test} COMMAND shoal_command mpirun -n ${processes} --nfg ${ranks} -- ${program})
      set_tests_properties(${test} PROPERTIES LABELS conformance TIMEOUT 60)
    endforeach()
  endforeach()
endforeach()

# A rank whose stack overflows is named, as in C: libgfortran has not taken the signal.
set(program ${CMAKE_CURRENT_BINARY_DIR}/overflow)
add_custom_command(
  OUTPUT ${program}
  COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/cache SHOAL_MPI_FC=${SHOAL_FORTRAN}
          $<TARGET_FILE:shoal_command> mpif90 -O0 -w ${CMAKE_CURRENT_LIST_DIR}/overflow.f90 -o ${program}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/overflow.f90 shoal_command mpi_abi mpi_host mpi_start_file VERBATIM)
add_custom_target(tests_fortran_overflow DEPENDS ${program})
add_dependencies(tests_conformance tests_fortran_overflow)
add_test(NAME conformance.fortran_overflow COMMAND shoal_command mpirun -n 1 --nfg 2 -- ${program})
set_tests_properties(conformance.fortran_overflow PROPERTIES LABELS conformance TIMEOUT 60
                     PASS_REGULAR_EXPRESSION "has overflowed its stack")

add_test(NAME conformance.fortran_complete
         COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:mpi_abi>
                 -P ${CMAKE_CURRENT_LIST_DIR}/fortran_complete.cmake)
set_tests_properties(conformance.fortran_complete PROPERTIES LABELS conformance)

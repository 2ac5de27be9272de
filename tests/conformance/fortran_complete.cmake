# SPDX-License-Identifier: Apache-2.0
# Every function of MPI that the library implements has a procedure of Fortran; those that it refuses are weak. Called
# with -DNM=... -DLIBRARY=...
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
endif()
string(REGEX MATCHALL " T PMPI_[A-Za-z0-9_]+" functions "${symbols}")
set(missing "")
foreach(function ${functions})
  string(REPLACE " T PMPI_" "" name ${function})
  string(TOLOWER ${name} name)
  # Conversions of handles, and the tool interface, are for C alone.
  if(name MATCHES "_(toint|fromint)$" OR name MATCHES "^t_")
    continue()
  endif()
  if(NOT symbols MATCHES " T pmpi_${name}_[\n]")
    list(APPEND missing ${name})
  endif()
endforeach()
list(LENGTH functions count)
if(missing OR count LESS 100)
  message(FATAL_ERROR "add to src/rank/fortran/functions.inc, of ${count} functions: ${missing}")
endif()

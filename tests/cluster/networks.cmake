# SPDX-License-Identifier: Apache-2.0
# What programs of this folder do between the nodes of one process they do over each network library, too: a test is a
# program and a library. A program declares in NAME_test.cmake:
#   over_networks         the cases, a filter of GoogleTest: the shapes of jobs that `./dev test` has time for
#   roles_over_networks   roles (below) in which these cases are repeated
#   over_ucx              cases over UCX alone
#   over_sim              cases on simulated machines, over a few seeds; over many with `ctest -C long`
# Jobs of one node have no network. With all that can be set about networks: `ctest -C long`.
set(network_libraries "")
set(absent_network_libraries "")
if(TARGET net_ucx)
  list(APPEND network_libraries ucx)
else()
  list(APPEND absent_network_libraries ucx)
endif()
foreach(mpi openmpi mpich)
  if(TARGET net_mpi_${mpi})
    list(APPEND network_libraries ${mpi})
  elseif(NOT SHOAL_SANITIZE)  # builds with sanitizers do without MPI
    list(APPEND absent_network_libraries ${mpi})
  endif()
endforeach()
set(role_workers "SHOAL_PROGRESS=workers")
set(role_server "SHOAL_PROGRESS=server")
set(role_domain_0 "SHOAL_MESSAGES=domain_0;SHOAL_POLL_MASK=63")
set(role_helpers "SHOAL_HELPERS=1")
# The number of domains for all workers that a role has besides one for each.
set(domains_server 1)
set(domains_domain_0 0)
set(domains_helpers 1)

function(shoal_test_over library program name label configurations filter)  # ARGN: settings
  set(command $<TARGET_FILE:cluster_${program}> --gtest_brief=1 --gtest_filter=${filter})
  set(transport ucx)
  if(NOT library STREQUAL "ucx")  # an MPI's own launcher says which it is
    set(transport mpi)
    set(launcher ${SHOAL_MPIRUN_${library}} -n 1)
    if(library STREQUAL "openmpi")
      list(APPEND launcher --bind-to none)
    endif()
    list(PREPEND command ${launcher})
  endif()
  add_test(NAME ${name} COMMAND ${command} ${configurations})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300 ENVIRONMENT
    "SHOAL_TRANSPORT=${transport};OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;${ARGN}")
endfunction()

function(shoal_test_over_sim target cases)
  string(REGEX REPLACE "^cluster_" "" program ${target})
  set(command ${CMAKE_CURRENT_SOURCE_DIR}/cluster/over_seeds.sh)
  set(arguments $<TARGET_FILE:${target}> --gtest_brief=1 "--gtest_filter=${cases}")
  add_test(NAME cluster.${program}.over_sim COMMAND ${command} 1 2 ${arguments})
  set_tests_properties(cluster.${program}.over_sim PROPERTIES LABELS cluster TIMEOUT 300)
  add_test(NAME long.${program}.over_sim COMMAND ${command} 3 202 ${arguments} CONFIGURATIONS long)
  set_tests_properties(long.${program}.over_sim PROPERTIES LABELS long_cluster TIMEOUT 3600)
endfunction()

function(shoal_test_over_networks target cases roles over_ucx)
  string(REGEX REPLACE "^cluster_" "" program ${target})
  if(over_ucx AND TARGET net_ucx)
    shoal_test_over(ucx ${program} cluster.${program}.over_ucx cluster "" "${over_ucx}")
  elseif(over_ucx)
    shoal_skipped_test(cluster.${program}.over_ucx cluster "Shoal was built without ucx")
  endif()
  if(NOT cases)
    return()
  endif()
  foreach(library ${absent_network_libraries})
    shoal_skipped_test(cluster.${program}.over_${library} cluster "Shoal was built without ${library}")
  endforeach()
  set(one_process "progress_of_workers.*:progress_by_helpers.*")
  set(some_shapes "*/2_nodes_2_workers_messages:*/4_nodes_2_workers_messages:*/3_nodes_2_workers_mapped:${one_process}")
  foreach(library ${network_libraries})
    set(not "*/1_nodes*")
    set(transfers SHOAL_ONE_SIDED=32K)
    set(contexts SHOAL_OWN_COMMUNICATORS=on)
    if(library STREQUAL "ucx")
      list(APPEND transfers SHOAL_ONE_SIDED=512)
      set(contexts SHOAL_SHARED_CONTEXT=on)
    else()
      string(APPEND not ":*on_a_single_processor*")  # a child process would begin MPI once more
    endif()
    # What is slow and needs no network is left to the long ones.
    shoal_test_over(${library} ${program} cluster.${program}.over_${library} cluster ""
                    "${cases}-${not}:*give_memory_back*")
    foreach(role ${roles})
      shoal_test_over(${library} ${program} cluster.${program}.over_${library}.${role} cluster "" "${cases}"
                      ${role_${role}} SHOAL_DOMAINS=${domains_${role}})
    endforeach()
    foreach(role workers server domain_0 helpers)
      foreach(domains 0 1)
        foreach(transfer ${transfers})
          set(name long.${program}.over_${library}.${role}.SHOAL_DOMAINS=${domains}.${transfer})
          shoal_test_over(${library} ${program} ${name} long_cluster "CONFIGURATIONS;long" "${some_shapes}-${not}"
                          ${role_${role}} SHOAL_DOMAINS=${domains} ${transfer})
        endforeach()
      endforeach()
    endforeach()
    shoal_test_over(${library} ${program} long.${program}.over_${library}.${contexts} long_cluster
                    "CONFIGURATIONS;long" "${some_shapes}-${not}" ${contexts})
    shoal_test_over(${library} ${program} long.${program}.over_${library}.all_shapes long_cluster
                    "CONFIGURATIONS;long" "*shapes/*:${one_process}-${not}")
  endforeach()
endfunction()

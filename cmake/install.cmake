# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs the library (static and shared), the public headers, the command, and the package files
# for find_package(shoal) and pkg-config. tests/install builds projects against the installed files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
set(checked_flag "")
if(SHOAL_CHECKED)  # templates in public headers must agree with the library
  target_compile_definitions(shoal INTERFACE $<INSTALL_INTERFACE:SHOAL_CHECKED=1>)
  target_compile_definitions(shoal_shared INTERFACE $<INSTALL_INTERFACE:SHOAL_CHECKED=1>)
  set(checked_flag " -DSHOAL_CHECKED=1")
endif()

install(TARGETS shoal shoal_shared gmt gmt_shared EXPORT shoal ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                               LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp PATTERN *.h PATTERN *.inc PATTERN *.f90)
# Fine-grain MPI: the library, what programs are started in, what they are linked with.
if(TARGET mpi_host)
  install(TARGETS mpi_abi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS mpi_host RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/shoal)
  foreach(name mpicc mpicxx mpif90 mpifort mpirun mpiexec)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/shoal-${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
  install(TARGETS mpi_debug_names LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shoal)
  install(FILES ${PROJECT_BINARY_DIR}/lib/shoal-mpi-start.o ${PROJECT_BINARY_DIR}/lib/shoal-ranks-gdb.py
                ${PROJECT_BINARY_DIR}/lib/shoal-start-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR}/shoal)
endif()
if(TARGET shoal_command)
  install(TARGETS shoal_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# All that is installed: `cmake --build build --target installed`.
get_property(plugins GLOBAL PROPERTY SHOAL_PLUGINS)
add_custom_target(installed DEPENDS shoal shoal_shared gmt gmt_shared ${plugins})
foreach(target shoal_command mpi_abi mpi_host mpi_start_file launch_pmix mpi_threads_openmpi mpi_threads_mpich)
  if(TARGET ${target})
    add_dependencies(installed ${target})
  endif()
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/data/debian-bookworm.txt.zst DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal)
# Not loaded by itself: a program is linked with the static library, and gdb loads scripts by the names of files.
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/shoal.py DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/gdb)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/gdb/shoal_gdb DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/gdb
        FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)

install(EXPORT shoal NAMESPACE shoal:: FILE shoal-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shoal-config.cmake.in ${PROJECT_BINARY_DIR}/shoal-config.cmake
                              INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shoal-config.cmake ${PROJECT_BINARY_DIR}/shoal-config-version.cmake
        DESTINATION ${package_folder})

# The installed tree may be moved: paths in the .pc file are relative to the file itself. The library is static, so
# the file names what it needs in Libs. Not in Requires: with --static that would also require the static dependencies
# of hwloc, which a system with a shared hwloc may not have.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
# Some distributions ship toml++ as headers only.
find_library(SHOAL_TOML_LIBRARY tomlplusplus)
mark_as_advanced(SHOAL_TOML_LIBRARY)
set(toml_library "")
if(SHOAL_TOML_LIBRARY)
  set(toml_library " -ltomlplusplus")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/shoal.pc.in ${PROJECT_BINARY_DIR}/shoal.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/gmt.pc.in ${PROJECT_BINARY_DIR}/gmt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shoal.pc ${PROJECT_BINARY_DIR}/gmt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

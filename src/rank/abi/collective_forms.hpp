// SPDX-License-Identifier: Apache-2.0
// The three forms of a collective operation: blocking, non-blocking, persistent. Who includes it defines `arguments`, what
// an operation's arguments are stored in, and run(), begin() and prepare_persistent(caller, communicator, kind, fill).
#pragma once

#define MPI_ABI_PARAMETERS(...) __VA_ARGS__
#define MPI_ABI_COLLECTIVE(name, iname, parameters, kind, ...)                                                  \
  int MPI_ABI_NAME(name)(parameters, MPI_Comm comm) {                                                           \
    return enter(comm, [&](caller& c, communicator& in) { run(c, in, kind, [&](arguments & a) __VA_ARGS__); }); \
  }                                                                                                             \
  MPI_ABI_ALIASED(name)                                                                                         \
  int MPI_ABI_NAME(iname)(parameters, MPI_Comm comm, MPI_Request * request_handle) {                            \
    return enter(comm, [&](caller& c, communicator& in) {                                                       \
      MPI_Request& result = output(request_handle);                                                             \
      result = begin(c, in, kind, [&](arguments & a) __VA_ARGS__);                                              \
    });                                                                                                         \
  }                                                                                                             \
  MPI_ABI_ALIASED(iname)                                                                                        \
  int MPI_ABI_NAME(name##_init)(parameters, MPI_Comm comm, MPI_Info, MPI_Request * request_handle) {            \
    return enter(comm, [&](caller& c, communicator& in) {                                                       \
      MPI_Request& result = output(request_handle);                                                             \
      result = prepare_persistent(c, in, kind, [&](arguments & a) __VA_ARGS__);                                 \
    });                                                                                                         \
  }                                                                                                             \
  MPI_ABI_ALIASED(name##_init)

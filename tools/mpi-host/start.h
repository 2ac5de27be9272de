/* SPDX-License-Identifier: Apache-2.0 */
/* What the object that is linked into programs tells the host of a copy of its program. */
#ifndef SHOAL_TOOLS_MPI_HOST_START_H
#define SHOAL_TOOLS_MPI_HOST_START_H

/* An output stream of libstdc++: the same on all machines of 64 bits. */
#define SHOAL_STREAM_BYTES 272

struct shoal_copy {
  void* handle; /* what its exit handlers are known by */
  char*** environment;
  void* streams[3]; /* room for cout, cerr, clog */
};

#endif

// SPDX-License-Identifier: Apache-2.0
// Generalized requests: of operations that the program carries out itself (MPI 5.0, 13.2). `collect` asks it for their
// statuses.
#include "rank/abi/arguments.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

extern "C" {

int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                        MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* handle) {
  return enter([&](caller& c) {
    MPI_Request& result = output(handle);
    request& r = c.me.pool.take(c.me, request_kind::generalized);
    r.query = query_fn;
    r.free_state = free_fn;
    r.cancel_state = cancel_fn;
    r.state = extra_state;
    result = handle_of<MPI_Request>(r);
  });
}
MPI_ABI_ALIAS(Grequest_start)

int PMPI_Grequest_complete(MPI_Request handle) {
  return enter([&](caller&) {
    request& r = object_of<request>(handle);
    if (r.kind != request_kind::generalized)
      throw mpi_error(MPI_ERR_REQUEST, "only generalized requests are completed by the program");
    complete(r);
  });
}
MPI_ABI_ALIAS(Grequest_complete)
}

// SPDX-License-Identifier: Apache-2.0
// Procedures of the program that the library calls: of operations, error handlers and generalized requests. They get
// addresses of integers where functions of C get handles and values.
#include "rank/error_handlers.hpp"
#include "rank/fortran/arguments.hpp"
#include "rank/operation.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface
using shoal::rank::error_handler;
using shoal::rank::object_of;
using shoal::rank::operation;

namespace {

using reduction = void(void* from, void* into, int* count, int* type);
using large_reduction = void(void* from, void* into, MPI_Count* count, int* type);
using handler = void(int* of, int* code);

void reduce(MPI_User_function* f, void* from, void* into, int* count, MPI_Datatype type) {
  int number = number_of(type);
  reinterpret_cast<reduction*>(f)(from, into, count, &number);
}

void reduce_many(MPI_User_function_c* f, void* from, void* into, MPI_Count* count, MPI_Datatype type) {
  int number = number_of(type);
  reinterpret_cast<large_reduction*>(f)(from, into, count, &number);
}

template <class Handle>
void handle_error(error_handler::function* f, void* of, int* code) {
  int number = number_of(*static_cast<Handle*>(of));
  reinterpret_cast<handler*>(f)(&number, code);
}

template <class Handle, class F>
void make_handler(int (*make)(F*, MPI_Errhandler*), handler* f, int* errhandler, int* ierror) {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  const int code = make(reinterpret_cast<F*>(f), &made);
  if (code == MPI_SUCCESS) object_of<error_handler>(made).through = handle_error<Handle>;
  *errhandler = number_of(made);
  report(ierror, code);
}

// The procedures of a generalized request, and what they get: the program's variable itself, as with other libraries.
struct generalized {
  void (*query)(MPI_Aint* extra, MPI_Status* status, int* ierror);
  void (*free)(MPI_Aint* extra, int* ierror);
  void (*cancel)(MPI_Aint* extra, int* complete, int* ierror);
  MPI_Aint* extra;
};

int query(void* state, MPI_Status* status) {
  auto* const g = static_cast<generalized*>(state);
  int code = MPI_SUCCESS;
  g->query(g->extra, status, &code);
  return code;
}

int end(void* state) {
  auto* const g = static_cast<generalized*>(state);
  int code = MPI_SUCCESS;
  g->free(g->extra, &code);
  delete g;
  return code;
}

int cancel(void* state, int complete) {
  auto* const g = static_cast<generalized*>(state);
  int code = MPI_SUCCESS;
  g->cancel(g->extra, &complete, &code);
  return code;
}

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, op_create, (reduction * f, const int* commute, int* op, int* ierror)) {
  MPI_Op made = MPI_OP_NULL;
  const int code = PMPI_Op_create(reinterpret_cast<MPI_User_function*>(f), *commute, &made);
  if (code == MPI_SUCCESS) object_of<operation>(made).through = reduce;
  *op = number_of(made);
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, op_create_c, (large_reduction * f, const int* commute, int* op, int* ierror)) {
  MPI_Op made = MPI_OP_NULL;
  const int code = PMPI_Op_create_c(reinterpret_cast<MPI_User_function_c*>(f), *commute, &made);
  if (code == MPI_SUCCESS) object_of<operation>(made).large_through = reduce_many;
  *op = number_of(made);
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, comm_create_errhandler, (handler * f, int* errhandler, int* ierror)) {
  make_handler<MPI_Comm>(PMPI_Comm_create_errhandler, f, errhandler, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, session_create_errhandler, (handler * f, int* errhandler, int* ierror)) {
  make_handler<MPI_Session>(PMPI_Session_create_errhandler, f, errhandler, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, grequest_start,
                        (word query_fn, word free_fn, word cancel_fn, MPI_Aint* extra, int* request, int* ierror)) {
  auto* const g = new generalized{reinterpret_cast<decltype(generalized::query)>(query_fn),
                                  reinterpret_cast<decltype(generalized::free)>(free_fn),
                                  reinterpret_cast<decltype(generalized::cancel)>(cancel_fn), extra};
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = PMPI_Grequest_start(query, end, cancel, g, &made);
  if (code != MPI_SUCCESS) delete g;
  *request = number_of(made);
  report(ierror, code);
}

// SPDX-License-Identifier: Apache-2.0
// Operations of reductions (MPI 5.0, 6.9).
#include "rank/abi/arguments.hpp"
#include "rank/operation.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

template <class F>
int create(F* f, int commute, MPI_Op* op, const char* function) {
  return enter(
      [&](caller&) {
        MPI_Op& made = output(op);
        if (f == nullptr) throw mpi_error(MPI_ERR_ARG, "the function of the operation is null");
        made = handle_of<MPI_Op>(*new operation(f, commute != 0));
      },
      function);
}

void combine(const void* from, void* into, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  const operation_ref how(op);
  const buffer to = checked_buffer(into, count, type);
  how.check(*to.type);
  how.combine(from, into, count, *to.type);
}

}  // namespace

extern "C" {

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create(user_fn, commute, op, "PMPI_Op_create");
}
MPI_ABI_ALIAS(Op_create)

int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create(user_fn, commute, op, "PMPI_Op_create_c");
}
MPI_ABI_ALIAS(Op_create_c)

int PMPI_Op_free(MPI_Op* op) {
  return enter([&](caller&) {
    const operation_ref last(output(op));
    if (is_predefined(*op)) throw mpi_error(MPI_ERR_OP, "a predefined operation cannot be freed");
    object_of<operation>(*op).references.fetch_sub(1, std::memory_order_relaxed);
    *op = MPI_OP_NULL;
  });
}
MPI_ABI_ALIAS(Op_free)

int PMPI_Op_commutative(MPI_Op op, int* commute) {
  return enter([&](caller&) { output(commute) = operation_ref(op).commutes() ? 1 : 0; });
}
MPI_ABI_ALIAS(Op_commutative)

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype type, MPI_Op op) {
  return enter([&](caller&) { combine(inbuf, inoutbuf, count, type, op); });
}
MPI_ABI_ALIAS(Reduce_local)

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  return enter([&](caller&) { combine(inbuf, inoutbuf, count, type, op); });
}
MPI_ABI_ALIAS(Reduce_local_c)
}

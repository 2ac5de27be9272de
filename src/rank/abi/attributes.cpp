// SPDX-License-Identifier: Apache-2.0
// Attributes of communicators, the predefined ones included (MPI 5.0, 7.7 and 9.1).
#include "rank/abi/arguments.hpp"
#include "rank/abi/making.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

constexpr auto k_communicators = attribute_key::kind::communicator;

// The value of an attribute of MPI_COMM_WORLD that every program has; nullptr: no such key, or no value.
const int* predefined(const caller& c, int key) {
  static const int tag_upper_bound = k_tag_upper_bound;
  static const int no_host = MPI_PROC_NULL;
  static const int any = MPI_ANY_SOURCE;
  static const int yes = 1;
  static const int no = 0;
  switch (key) {
    case MPI_TAG_UB: return &tag_upper_bound;
    case MPI_HOST: return &no_host;
    case MPI_IO: return &any;
    case MPI_WTIME_IS_GLOBAL: return c.me.job.is_on_one_machine() ? &yes : &no;
    case MPI_UNIVERSE_SIZE: c.me.universe_size = c.me.job.size(); return &c.me.universe_size;
    case MPI_LASTUSEDCODE: c.me.last_used_code = last_used_code(); return &c.me.last_used_code;
    default: return nullptr;
  }
}

bool is_predefined_key(int key) noexcept { return key >= MPI_TAG_UB && key <= MPI_UNIVERSE_SIZE; }

void*& pointer_at(void* value) { return *reinterpret_cast<void**>(&output(static_cast<char*>(value))); }

void check_changeable(int key) {
  if (is_predefined_key(key)) throw mpi_error(MPI_ERR_KEYVAL, "a predefined attribute cannot be changed");
}

int create_key(MPI_Comm_copy_attr_function* copy_fn, MPI_Comm_delete_attr_function* delete_fn, int* keyval, void* extra,
               const char* function) {
  return enter(
      [&](caller& c) {
        output(keyval) = c.me.keys.add({k_communicators, reinterpret_cast<attribute_key::copy_function*>(copy_fn),
                                        reinterpret_cast<attribute_key::delete_function*>(delete_fn), extra});
      },
      function);
}

}  // namespace

extern "C" {

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy_fn, MPI_Comm_delete_attr_function* delete_fn, int* keyval,
                            void* extra_state) {
  return create_key(copy_fn, delete_fn, keyval, extra_state, "PMPI_Comm_create_keyval");
}
MPI_ABI_ALIAS(Comm_create_keyval)

int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval, void* extra_state) {
  return create_key(reinterpret_cast<MPI_Comm_copy_attr_function*>(copy_fn),
                    reinterpret_cast<MPI_Comm_delete_attr_function*>(delete_fn), keyval, extra_state,
                    "PMPI_Keyval_create");
}
MPI_ABI_ALIAS(Keyval_create)

int PMPI_Comm_free_keyval(int* keyval) {
  return enter([&](caller& c) {
    c.me.keys.free(output(keyval), k_communicators);
    *keyval = MPI_KEYVAL_INVALID;
  });
}
MPI_ABI_ALIAS(Comm_free_keyval)

int PMPI_Keyval_free(int* keyval) { return PMPI_Comm_free_keyval(keyval); }
MPI_ABI_ALIAS(Keyval_free)

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_changeable(keyval);
    in.member(c.me).attributes.set(c.me.keys, k_communicators, comm, keyval, value);
  });
}
MPI_ABI_ALIAS(Comm_set_attr)

int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) { return PMPI_Comm_set_attr(comm, keyval, value); }
MPI_ABI_ALIAS(Attr_put)

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  return enter(comm, [&](caller& c, communicator& in) {
    int& found = output(flag);
    void*& to = pointer_at(value);
    if (is_predefined_key(keyval)) {
      const int* const at = predefined(c, keyval);
      found = at != nullptr ? 1 : 0;
      if (at != nullptr) to = const_cast<int*>(at);
      return;
    }
    c.me.keys.at(keyval, k_communicators);
    const attribute_set::entry* const e = in.member(c.me).attributes.find(keyval);
    found = e != nullptr ? 1 : 0;
    if (e != nullptr) to = e->value;
  });
}
MPI_ABI_ALIAS(Comm_get_attr)

int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return PMPI_Comm_get_attr(comm, keyval, value, flag);
}
MPI_ABI_ALIAS(Attr_get)

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_changeable(keyval);
    in.member(c.me).attributes.erase(c.me.keys, k_communicators, comm, keyval);
  });
}
MPI_ABI_ALIAS(Comm_delete_attr)

int PMPI_Attr_delete(MPI_Comm comm, int keyval) { return PMPI_Comm_delete_attr(comm, keyval); }
MPI_ABI_ALIAS(Attr_delete)
}

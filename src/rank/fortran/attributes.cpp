// SPDX-License-Identifier: Apache-2.0
// Attributes (MPI 5.0, 19.3.7). Their values are integers: of the size of an address, and in the procedures of MPI-1 of
// the size of a default integer. C gets the address of such a value, so the library keeps it in a cell; an address that C
// has set comes as it is. Those of predefined keys are values here, too, and addresses of values in C.
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

namespace {

// What a key made in Fortran has; Value is MPI_Aint or int.
template <class Value>
struct key {
  using copy_procedure = void(int* of, int* keyval, Value* extra, Value* in, Value* out, int* flag, int* ierror);
  using delete_procedure = void(int* of, int* keyval, Value* value, Value* extra, int* ierror);
  copy_procedure* copy;
  delete_procedure* erase;
  Value extra;
};

// The values that Fortran has set, where C finds them.
class cells {
public:
  void* add(MPI_Aint value) {
    auto made = std::make_unique<MPI_Aint>(value);
    MPI_Aint* const at = made.get();
    const std::lock_guard hold(mutex_);
    all_.emplace(at, std::move(made));
    return at;
  }
  /// What an attribute holds: a cell's value, or an address of C.
  MPI_Aint value_of(const void* attribute) {
    const std::lock_guard hold(mutex_);
    const auto at = all_.find(attribute);
    return at != all_.end() ? *at->second : reinterpret_cast<MPI_Aint>(attribute);
  }
  /// What takes the place of an attribute of this language.
  void* replace(const void* attribute, MPI_Aint value) {
    {
      const std::lock_guard hold(mutex_);
      if (!all_.contains(attribute)) return reinterpret_cast<void*>(value);
    }
    return add(value);
  }
  void remove(const void* attribute) {
    const std::lock_guard hold(mutex_);
    all_.erase(attribute);
  }

private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<MPI_Aint>> all_;
};

cells& values() {
  static cells all;
  return all;
}

template <class Value, class Handle>
int copy(Handle of, int keyval, void* state, void* in, void* out, int* flag) {
  auto* const k = static_cast<key<Value>*>(state);
  int number = number_of(of);
  int code = MPI_SUCCESS;
  auto from = static_cast<Value>(values().value_of(in));
  Value to = 0;
  k->copy(&number, &keyval, &k->extra, &from, &to, flag, &code);
  if (code == MPI_SUCCESS && *flag != 0) *static_cast<void**>(out) = values().replace(in, to);
  return code;
}

template <class Value, class Handle>
int erase(Handle of, int keyval, void* value, void* state) {
  auto* const k = static_cast<key<Value>*>(state);
  int number = number_of(of);
  int code = MPI_SUCCESS;
  auto given = static_cast<Value>(values().value_of(value));
  k->erase(&number, &keyval, &given, &k->extra, &code);
  if (code == MPI_SUCCESS) values().remove(value);
  return code;
}

// Kept for ever: nobody knows when the last value of a key has gone.
template <class Value>
key<Value>& keep(word copy_fn, word delete_fn, Value extra) {
  static std::mutex mutex;
  static std::deque<key<Value>> all;
  const std::lock_guard hold(mutex);
  return all.emplace_back(key<Value>{reinterpret_cast<typename key<Value>::copy_procedure*>(copy_fn),
                                     reinterpret_cast<typename key<Value>::delete_procedure*>(delete_fn), extra});
}

template <class Handle>
void get(int (*function)(Handle, int, void*, int*), Handle of, int keyval, MPI_Aint& value, int* flag, int* ierror) {
  void* at = nullptr;
  const int code = function(of, keyval, &at, flag);
  report(ierror, code);
  if (code != MPI_SUCCESS || *flag == 0) return;
  value = keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE ? *static_cast<int*>(at) : values().value_of(at);
}

template <class Handle>
void set(int (*function)(Handle, int, void*), Handle of, int keyval, MPI_Aint value, int* ierror) {
  void* const cell = values().add(value);
  const int code = function(of, keyval, cell);
  if (code != MPI_SUCCESS) values().remove(cell);
  report(ierror, code);
}

template <class Value>
void do_copy(Value* in, Value* out, int* flag, int* ierror) {
  *out = *in;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, comm_create_keyval,
                        (word copy_fn, word delete_fn, int* keyval, const MPI_Aint* extra, int* ierror)) {
  report(ierror, PMPI_Comm_create_keyval(copy<MPI_Aint, MPI_Comm>, erase<MPI_Aint, MPI_Comm>, keyval,
                                         &keep<MPI_Aint>(copy_fn, delete_fn, *extra)));
}

SHOAL_FORTRAN_PROCEDURE(void, type_create_keyval,
                        (word copy_fn, word delete_fn, int* keyval, const MPI_Aint* extra, int* ierror)) {
  report(ierror, PMPI_Type_create_keyval(copy<MPI_Aint, MPI_Datatype>, erase<MPI_Aint, MPI_Datatype>, keyval,
                                         &keep<MPI_Aint>(copy_fn, delete_fn, *extra)));
}

SHOAL_FORTRAN_PROCEDURE(void, keyval_create,
                        (word copy_fn, word delete_fn, int* keyval, const int* extra, int* ierror)) {
  report(ierror,
         PMPI_Keyval_create(copy<int, MPI_Comm>, erase<int, MPI_Comm>, keyval, &keep<int>(copy_fn, delete_fn, *extra)));
}

SHOAL_FORTRAN_PROCEDURE(void, comm_set_attr, (word comm, const int* keyval, const MPI_Aint* value, int* ierror)) {
  set(PMPI_Comm_set_attr, handle_at<MPI_Comm>(comm), *keyval, *value, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, type_set_attr, (word type, const int* keyval, const MPI_Aint* value, int* ierror)) {
  set(PMPI_Type_set_attr, handle_at<MPI_Datatype>(type), *keyval, *value, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, attr_put, (word comm, const int* keyval, const int* value, int* ierror)) {
  set(PMPI_Comm_set_attr, handle_at<MPI_Comm>(comm), *keyval, *value, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, comm_get_attr, (word comm, const int* keyval, MPI_Aint* value, int* flag, int* ierror)) {
  get(PMPI_Comm_get_attr, handle_at<MPI_Comm>(comm), *keyval, *value, flag, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, type_get_attr, (word type, const int* keyval, MPI_Aint* value, int* flag, int* ierror)) {
  get(PMPI_Type_get_attr, handle_at<MPI_Datatype>(type), *keyval, *value, flag, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, attr_get, (word comm, const int* keyval, int* value, int* flag, int* ierror)) {
  MPI_Aint found = *value;
  get(PMPI_Comm_get_attr, handle_at<MPI_Comm>(comm), *keyval, found, flag, ierror);
  *value = static_cast<int>(found);
}

// The predefined copy and delete procedures. Those of communicators, datatypes and windows do the same.
#define SHOAL_FORTRAN_ATTRIBUTE_PROCEDURES(prefix, Value)                                                        \
  SHOAL_FORTRAN_PROCEDURE(                                                                                       \
      void, prefix##null_copy_fn,                                                                                \
      (int* /*of*/, int* /*keyval*/, Value* /*extra*/, Value* /*in*/, Value* /*out*/, int* flag, int* ierror)) { \
    *flag = 0;                                                                                                   \
    *ierror = MPI_SUCCESS;                                                                                       \
  }                                                                                                              \
  SHOAL_FORTRAN_PROCEDURE(                                                                                       \
      void, prefix##dup_fn,                                                                                      \
      (int* /*of*/, int* /*keyval*/, Value* /*extra*/, Value* in, Value* out, int* flag, int* ierror)) {         \
    do_copy(in, out, flag, ierror);                                                                              \
  }                                                                                                              \
  SHOAL_FORTRAN_PROCEDURE(void, prefix##null_delete_fn,                                                          \
                          (int* /*of*/, int* /*keyval*/, Value* /*value*/, Value* /*extra*/, int* ierror)) {     \
    *ierror = MPI_SUCCESS;                                                                                       \
  }
SHOAL_FORTRAN_ATTRIBUTE_PROCEDURES(, int)
SHOAL_FORTRAN_ATTRIBUTE_PROCEDURES(comm_, MPI_Aint)
SHOAL_FORTRAN_ATTRIBUTE_PROCEDURES(type_, MPI_Aint)
SHOAL_FORTRAN_ATTRIBUTE_PROCEDURES(win_, MPI_Aint)

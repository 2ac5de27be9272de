// SPDX-License-Identifier: Apache-2.0
// Attributes: what a program attaches to communicators and datatypes, with functions that copy and delete it. Each rank
// has keys and values of its own.
// Who may call: the rank's worker. The program's functions run in it. Errors: mpi_error; what such a function returns.
// Source: MPI 5.0, 7.7. Test: tests/conformance/communicators.c.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mpi-abi/mpi.h"

namespace shoal::rank {

/// Copy and delete functions of communicators, datatypes and windows differ in the type of the first argument alone.
struct attribute_key {
  using copy_function = int(void* of, int key, void* extra, void* value, void* copied, int* flag);
  using delete_function = int(void* of, int key, void* value, void* extra);
  enum class kind : std::uint8_t { communicator, datatype } of;
  copy_function* copy;
  delete_function* erase;
  void* extra;
  std::uint32_t uses = 1;  // its handle, and values
  bool freed = false;      // the handle is gone, and values remain
};

class attribute_set;

class attribute_keys {
public:
  int add(const attribute_key& k);
  /// Throws MPI_ERR_KEYVAL.
  attribute_key& at(int key, attribute_key::kind of);
  /// The handle goes; what has values of the key keeps them. Throws MPI_ERR_KEYVAL, also for one that has gone before.
  void free(int key, attribute_key::kind of);
  void use(int key) noexcept { ++all_.at(key).uses; }
  void drop(int key) noexcept;

private:
  std::map<int, attribute_key> all_;
  int next_ = 1000;  // predefined ones are smaller
};

class attribute_set {
public:
  struct entry {
    int key;
    void* value;
  };
  const entry* find(int key) const noexcept;
  /// The old value is deleted first.
  void set(attribute_keys& keys, attribute_key::kind of, void* handle, int key, void* value);
  void erase(attribute_keys& keys, attribute_key::kind of, void* handle, int key);
  /// In the reverse order of their setting.
  void erase_all(attribute_keys& keys, attribute_key::kind of, void* handle);
  /// The same for an object that is not to be: a delete function that fails changes nothing.
  void discard(attribute_keys& keys, attribute_key::kind of, void* handle);
  /// What the copy functions make of those of `from`; where one fails, the others are discarded.
  void copy(attribute_keys& keys, attribute_key::kind of, void* handle_of_from, const attribute_set& from);
  bool empty() const noexcept { return entries_.empty(); }

private:
  void copy_one(attribute_keys& keys, attribute_key::kind of, void* handle_of_from, const entry& e);

  std::vector<entry> entries_;
};

}  // namespace shoal::rank

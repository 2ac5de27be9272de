// SPDX-License-Identifier: Apache-2.0
#include "rank/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rank/error.hpp"
#include "rank/program_call.hpp"

namespace shoal::rank {
namespace {

void check_result(int code, const char* which) {
  if (code != MPI_SUCCESS)
    throw mpi_error(code, fmt::format("the program's function that {} an attribute failed", which));
}

void delete_value(const attribute_key& known, void* handle, int key, void* value) {
  check_result(call_program([&] { return known.erase(handle, key, value, known.extra); }), "deletes");
}

// MPI_COMM_DUP_FN and the like, which are numbers: the copy is the value.
bool is_duplicate(attribute_key::copy_function* f) noexcept { return reinterpret_cast<std::uintptr_t>(f) == 1; }

}  // namespace

int attribute_keys::add(const attribute_key& k) {
  const int key = next_++;
  all_.emplace(key, k);
  return key;
}

attribute_key& attribute_keys::at(int key, attribute_key::kind of) {
  const auto found = all_.find(key);
  if (found == all_.end() || found->second.of != of)
    throw mpi_error(MPI_ERR_KEYVAL, fmt::format("{} is no attribute key for such an object", key));
  return found->second;
}

void attribute_keys::free(int key, attribute_key::kind of) {
  attribute_key& known = at(key, of);
  if (known.freed) throw mpi_error(MPI_ERR_KEYVAL, fmt::format("the attribute key {} has been freed already", key));
  known.freed = true;
  drop(key);
}

void attribute_keys::drop(int key) noexcept {
  const auto found = all_.find(key);
  if (--found->second.uses == 0) all_.erase(found);
}

const attribute_set::entry* attribute_set::find(int key) const noexcept {
  const auto at = std::ranges::find(entries_, key, &entry::key);
  return at == entries_.end() ? nullptr : &*at;
}

void attribute_set::set(attribute_keys& keys, attribute_key::kind of, void* handle, int key, void* value) {
  const attribute_key known = keys.at(key, of);
  const auto at = std::ranges::find(entries_, key, &entry::key);
  if (at != entries_.end()) {
    if (known.erase != nullptr) delete_value(known, handle, key, at->value);
    // The callback may have set or deleted attributes.
    if (const auto again = std::ranges::find(entries_, key, &entry::key); again != entries_.end()) {
      again->value = value;
      return;
    }
  }
  entries_.push_back({key, value});
  keys.use(key);
}

void attribute_set::erase(attribute_keys& keys, attribute_key::kind of, void* handle, int key) {
  const auto at = std::ranges::find(entries_, key, &entry::key);
  if (at == entries_.end()) {
    keys.at(key, of);
    throw mpi_error(MPI_ERR_ARG, fmt::format("the object has no attribute with key {}", key));
  }
  const attribute_key known = keys.at(key, of);
  if (known.erase != nullptr) delete_value(known, handle, key, at->value);
  const auto again = std::ranges::find(entries_, key, &entry::key);
  if (again == entries_.end()) return;  // the callback has deleted it
  entries_.erase(again);
  keys.drop(key);
}

void attribute_set::erase_all(attribute_keys& keys, attribute_key::kind of, void* handle) {
  while (!entries_.empty()) erase(keys, of, handle, entries_.back().key);
}

void attribute_set::discard(attribute_keys& keys, attribute_key::kind of, void* handle) {
  while (!entries_.empty()) {
    const entry last = entries_.back();
    entries_.pop_back();
    const attribute_key known = keys.at(last.key, of);
    if (known.erase != nullptr)
      static_cast<void>(call_program([&] { return known.erase(handle, last.key, last.value, known.extra); }));
    keys.drop(last.key);
  }
}

void attribute_set::copy(attribute_keys& keys, attribute_key::kind of, void* handle_of_from,
                         const attribute_set& from) {
  const std::vector<entry> all = from.entries_;  // callbacks may set others
  try {
    for (const entry& e : all) copy_one(keys, of, handle_of_from, e);
  } catch (...) {
    discard(keys, of, handle_of_from);
    throw;
  }
}

void attribute_set::copy_one(attribute_keys& keys, attribute_key::kind of, void* handle_of_from, const entry& e) {
  const attribute_key known = keys.at(e.key, of);
  if (known.copy == nullptr) return;
  void* copied = e.value;
  int flag = 1;
  if (!is_duplicate(known.copy))
    check_result(call_program([&] { return known.copy(handle_of_from, e.key, known.extra, e.value, &copied, &flag); }),
                 "copies");
  if (flag == 0) return;
  entries_.push_back({e.key, copied});
  keys.use(e.key);
}

}  // namespace shoal::rank

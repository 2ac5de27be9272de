// SPDX-License-Identifier: Apache-2.0
// Info objects (MPI 5.0, chapter 10). MPI_INFO_ENV has no pairs where there is no rank yet.
#include <algorithm>
#include <cstring>

#include "rank/abi/arguments.hpp"
#include "rank/abi/hosting.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

const info& given(MPI_Info h) {
  if (h == MPI_INFO_ENV) {
    static const info nothing;
    const rank_state* const me = current_rank() != nullptr ? current_rank() : rank_of_thread();
    return me == nullptr || me->job.environment == nullptr ? nothing : *me->job.environment;
  }
  if (h == MPI_INFO_NULL) throw mpi_error(MPI_ERR_INFO, "the info object is MPI_INFO_NULL");
  return object_of<info>(h);
}

// Stores as much of `text` as there is room for, with its zero.
void give(const std::string& text, char* to, std::size_t room) {
  if (room == 0) return;
  const std::size_t n = std::min(text.size(), room - 1);
  std::memcpy(&output(to), text.data(), n);
  to[n] = '\0';
}

}  // namespace

extern "C" {

int PMPI_Info_create(MPI_Info* result) {
  return enter_anywhere([&] {
    MPI_Info& made = output(result);
    made = handle_of<MPI_Info>(*new info);
  });
}
MPI_ABI_ALIAS(Info_create)

int PMPI_Info_create_env(int, char**, MPI_Info* result) { return PMPI_Info_dup(MPI_INFO_ENV, result); }
MPI_ABI_ALIAS(Info_create_env)

int PMPI_Info_dup(MPI_Info h, MPI_Info* result) {
  return enter_anywhere([&] {
    MPI_Info& made = output(result);
    made = handle_of<MPI_Info>(*new info(given(h).pairs()));
  });
}
MPI_ABI_ALIAS(Info_dup)

int PMPI_Info_free(MPI_Info* h) {
  return enter_anywhere([&] {
    delete &object_of<info>(output(h));
    *h = MPI_INFO_NULL;
  });
}
MPI_ABI_ALIAS(Info_free)

int PMPI_Info_set(MPI_Info h, const char* key, const char* value) {
  return enter_anywhere([&] { object_of<info>(h).set(key, value); });
}
MPI_ABI_ALIAS(Info_set)

int PMPI_Info_delete(MPI_Info h, const char* key) {
  return enter_anywhere([&] { object_of<info>(h).erase(key); });
}
MPI_ABI_ALIAS(Info_delete)

int PMPI_Info_get(MPI_Info h, const char* key, int valuelen, char* value, int* flag) {
  return enter_anywhere([&] {
    if (valuelen < 0) throw mpi_error(MPI_ERR_ARG, "the length of the value is below 0");
    const std::string* const found = given(h).find(key);
    output(flag) = found != nullptr ? 1 : 0;
    if (found != nullptr) give(*found, value, static_cast<std::size_t>(valuelen) + 1);
  });
}
MPI_ABI_ALIAS(Info_get)

int PMPI_Info_get_string(MPI_Info h, const char* key, int* buflen, char* value, int* flag) {
  return enter_anywhere([&] {
    const std::string* const found = given(h).find(key);
    output(flag) = found != nullptr ? 1 : 0;
    if (found == nullptr) return;
    const int room = output(buflen);
    *buflen = static_cast<int>(found->size()) + 1;
    give(*found, value, static_cast<std::size_t>(std::max(room, 0)));
  });
}
MPI_ABI_ALIAS(Info_get_string)

int PMPI_Info_get_valuelen(MPI_Info h, const char* key, int* valuelen, int* flag) {
  return enter_anywhere([&] {
    const std::string* const found = given(h).find(key);
    output(flag) = found != nullptr ? 1 : 0;
    if (found != nullptr) output(valuelen) = static_cast<int>(found->size());
  });
}
MPI_ABI_ALIAS(Info_get_valuelen)

int PMPI_Info_get_nkeys(MPI_Info h, int* nkeys) {
  return enter_anywhere([&] { output(nkeys) = static_cast<int>(given(h).pairs().size()); });
}
MPI_ABI_ALIAS(Info_get_nkeys)

int PMPI_Info_get_nthkey(MPI_Info h, int n, char* key) {
  return enter_anywhere([&] { give(given(h).key(n), key, MPI_MAX_INFO_KEY); });
}
MPI_ABI_ALIAS(Info_get_nthkey)
}

// SPDX-License-Identifier: Apache-2.0
// Keys and values of info objects, and names of process sets, which lose the blanks at both ends.
#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

namespace {

std::string stripped(const char* at, std::size_t length) {
  std::string text = text_of(at, length);
  return text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
}

MPI_Info info_at(const int* number) noexcept { return PMPI_Info_fromint(*number); }

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, info_create_env, (int* info, int* ierror)) {
  MPI_Info made = MPI_INFO_NULL;
  report(ierror, PMPI_Info_create_env(0, nullptr, &made));
  *info = number_of(made);
}

// The length counts no zero at the end.
SHOAL_FORTRAN_PROCEDURE(void, session_get_nth_pset,
                        (const int* session, const int* info, const int* n, int* pset_len, char* pset_name, int* ierror,
                         std::size_t name_length)) {
  const bool wants_text = *pset_len > 0;
  int length = wants_text ? *pset_len + 1 : 0;
  std::string room(static_cast<std::size_t>(length) + 1, '\0');
  const int code = PMPI_Session_get_nth_pset(PMPI_Session_fromint(*session), info_at(info), *n, &length, room.data());
  if (code == MPI_SUCCESS) {
    if (wants_text) give_text(room.c_str(), pset_name, name_length);
    *pset_len = length - 1;
  }
  report(ierror, code);
}

SHOAL_FORTRAN_PROCEDURE(void, info_set,
                        (const int* info, const char* key, const char* value, int* ierror, std::size_t key_length,
                         std::size_t value_length)) {
  report(ierror,
         PMPI_Info_set(info_at(info), stripped(key, key_length).c_str(), stripped(value, value_length).c_str()));
}

SHOAL_FORTRAN_PROCEDURE(void, info_delete, (const int* info, const char* key, int* ierror, std::size_t key_length)) {
  report(ierror, PMPI_Info_delete(info_at(info), stripped(key, key_length).c_str()));
}

SHOAL_FORTRAN_PROCEDURE(void, info_get_valuelen,
                        (const int* info, const char* key, int* valuelen, int* flag, int* ierror,
                         std::size_t key_length)) {
  report(ierror, PMPI_Info_get_valuelen(info_at(info), stripped(key, key_length).c_str(), valuelen, flag));
}

SHOAL_FORTRAN_PROCEDURE(void, info_get,
                        (const int* info, const char* key, const int* valuelen, char* value, int* flag, int* ierror,
                         std::size_t key_length, std::size_t value_length)) {
  std::string room(static_cast<std::size_t>(std::max(*valuelen, 0)) + 1, '\0');
  const int code = PMPI_Info_get(info_at(info), stripped(key, key_length).c_str(), *valuelen, room.data(), flag);
  if (code == MPI_SUCCESS && *flag != 0) give_text(room.c_str(), value, value_length);
  report(ierror, code);
}

// The length counts no zero at the end.
SHOAL_FORTRAN_PROCEDURE(void, info_get_string,
                        (const int* info, const char* key, int* buflen, char* value, int* flag, int* ierror,
                         std::size_t key_length, std::size_t value_length)) {
  const bool wants_text = *buflen > 0;
  int length = std::max(*buflen, 0) + (wants_text ? 1 : 0);
  std::string room(static_cast<std::size_t>(length) + 1, '\0');
  const int code = PMPI_Info_get_string(info_at(info), stripped(key, key_length).c_str(), &length, room.data(), flag);
  if (code == MPI_SUCCESS && *flag != 0) {
    if (wants_text) give_text(room.c_str(), value, value_length);
    *buflen = length - 1;
  }
  report(ierror, code);
}

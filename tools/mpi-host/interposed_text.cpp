// SPDX-License-Identifier: Apache-2.0
// Functions that keep a place in a text, or give one that they keep themselves: strtok(), and those for times of the day.
#include <cstring>

#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

SHOAL_INTERPOSED char* strtok(char* text, const char* separators) noexcept {
  SHOAL_NEXT(strtok);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? strtok_next(text, separators) : ::strtok_r(text, separators, &mine->token);
}

SHOAL_INTERPOSED std::tm* localtime(const std::time_t* time) noexcept {
  SHOAL_NEXT(localtime);
  rank_libc* const mine = calling_libc();
  if (mine == nullptr) return localtime_next(time);
  ::tzset();  // as localtime() does, and localtime_r() need not
  return ::localtime_r(time, &mine->broken_time);
}

SHOAL_INTERPOSED std::tm* gmtime(const std::time_t* time) noexcept {
  SHOAL_NEXT(gmtime);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? gmtime_next(time) : ::gmtime_r(time, &mine->broken_time);
}

SHOAL_INTERPOSED char* asctime(const std::tm* time) noexcept {
  SHOAL_NEXT(asctime);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? asctime_next(time) : ::asctime_r(time, mine->time_text.data());
}

SHOAL_INTERPOSED char* ctime(const std::time_t* time) noexcept {
  SHOAL_NEXT(ctime);
  rank_libc* const mine = calling_libc();
  return mine == nullptr ? ctime_next(time) : ::ctime_r(time, mine->time_text.data());
}

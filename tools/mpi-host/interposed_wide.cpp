// SPDX-License-Identifier: Apache-2.0
// Wide characters on standard output and error: the stream of all ranks (rank_output.cpp) has none, so texts go there as
// bytes, by the rank's locale.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cwchar>
#include <string>
#include <vector>

#include "tools/mpi-host/rank_libc.hpp"

using namespace shoal::host;  // NOLINT: the functions of a C interface

namespace {

// False, with errno: a character has no bytes in this locale.
bool write_bytes(std::FILE* to, const wchar_t* text) {
  std::mbstate_t state{};
  const wchar_t* at = text;
  const std::size_t bytes = std::wcsrtombs(nullptr, &at, 0, &state);
  if (bytes == static_cast<std::size_t>(-1)) return false;
  std::string narrow(bytes, '\0');
  at = text;
  std::wcsrtombs(narrow.data(), &at, bytes, &state);
  return std::fwrite(narrow.data(), 1, bytes, to) == bytes;
}

int print(std::FILE* to, const wchar_t* format, std::va_list arguments) {
  constexpr std::size_t k_longest = std::size_t{1} << 24;
  for (std::size_t room = 256;; room *= 4) {
    std::vector<wchar_t> text(room);
    std::va_list again;
    va_copy(again, arguments);
    errno = 0;
    const int length = std::vswprintf(text.data(), room, format, again);
    va_end(again);
    if (length >= 0) return write_bytes(to, text.data()) ? length : -1;
    if (errno == EILSEQ || room >= k_longest) return -1;  // else there was too little room
  }
}

std::wint_t put(wchar_t letter, std::FILE* to) {
  const wchar_t text[] = {letter, L'\0'};
  if (letter == L'\0') return std::fputc('\0', to) == 0 ? 0 : WEOF;
  return write_bytes(to, text) ? static_cast<std::wint_t>(letter) : WEOF;
}

}  // namespace

SHOAL_INTERPOSED int vfwprintf(std::FILE* stream, const wchar_t* format, std::va_list arguments) {
  SHOAL_NEXT(vfwprintf);
  return is_rank_output(stream) ? print(stream, format, arguments) : vfwprintf_next(stream, format, arguments);
}

SHOAL_INTERPOSED int vwprintf(const wchar_t* format, std::va_list arguments) {
  return ::vfwprintf(stdout, format, arguments);
}

SHOAL_INTERPOSED int fwprintf(std::FILE* stream, const wchar_t* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = ::vfwprintf(stream, format, arguments);
  va_end(arguments);
  return result;
}

SHOAL_INTERPOSED int wprintf(const wchar_t* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = ::vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return result;
}

// What programs call that are compiled with _FORTIFY_SOURCE.
SHOAL_INTERPOSED int __vfwprintf_chk(std::FILE* stream, int, const wchar_t* format, std::va_list arguments) {
  return ::vfwprintf(stream, format, arguments);
}

SHOAL_INTERPOSED int __vwprintf_chk(int, const wchar_t* format, std::va_list arguments) {
  return ::vfwprintf(stdout, format, arguments);
}

SHOAL_INTERPOSED int __fwprintf_chk(std::FILE* stream, int, const wchar_t* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = ::vfwprintf(stream, format, arguments);
  va_end(arguments);
  return result;
}

SHOAL_INTERPOSED int __wprintf_chk(int, const wchar_t* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = ::vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return result;
}

SHOAL_INTERPOSED int fputws(const wchar_t* text, std::FILE* stream) {
  SHOAL_NEXT(fputws);
  if (!is_rank_output(stream)) return fputws_next(text, stream);
  return write_bytes(stream, text) ? 1 : -1;
}

SHOAL_INTERPOSED std::wint_t fputwc(wchar_t letter, std::FILE* stream) {
  SHOAL_NEXT(fputwc);
  return is_rank_output(stream) ? put(letter, stream) : fputwc_next(letter, stream);
}

// Also std::wcout's way.
SHOAL_INTERPOSED std::wint_t putwc(wchar_t letter, std::FILE* stream) { return ::fputwc(letter, stream); }
SHOAL_INTERPOSED std::wint_t putwchar(wchar_t letter) { return ::fputwc(letter, stdout); }

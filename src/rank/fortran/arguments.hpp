// SPDX-License-Identifier: Apache-2.0
// How the arguments of a Fortran procedure become those of the C function: everything comes as an address, handles are
// integers, texts have no zero at their end and a length behind all arguments. The type of the C parameter says what to
// do, so one call() serves all regular functions:
//   const word a[] = {comm, size};
//   call(ierror, PMPI_Comm_size, a);
// Logicals are integers: 0 is false, and C takes everything else for true.
// Who may call: tasks of ranks. No exception leaves a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "mpi-abi/mpi.h"
#include "rank/fortran/sentinels.hpp"
#include "rank/rank.hpp"

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-attributes"  // the compiler finds `nothrow` by itself, for one of the names
#endif

/// The procedure `name`, which profilers may replace, under its second name, and the first as an alias.
#define SHOAL_FORTRAN_PROCEDURE(result, name, parameters)                                                          \
  extern "C" [[gnu::visibility("default")]] result pmpi_##name##_ parameters;                                      \
  extern "C" [[gnu::alias("pmpi_" #name "_"), gnu::visibility("default")]] decltype(pmpi_##name##_) mpi_##name##_; \
  result pmpi_##name##_ parameters

namespace shoal::rank::fortran {

/// While a procedure runs: where the program has called it, for reports.
class call_site {
public:
  explicit call_site(const void* from) noexcept : of_(current_rank()) {
    if (of_ != nullptr) of_->fortran_call = from;
  }
  ~call_site() {
    if (of_ != nullptr) of_->fortran_call = nullptr;
  }
  call_site(const call_site&) = delete;
  call_site& operator=(const call_site&) = delete;

private:
  rank_state* const of_;
};

/// An argument as it comes.
using word = void*;

#define SHOAL_FORTRAN_HANDLE(name, type)                                             \
  inline int number_of(type handle) noexcept { return PMPI_##name##_toint(handle); } \
  inline void take(int number, type& handle) noexcept { handle = PMPI_##name##_fromint(number); }
SHOAL_FORTRAN_HANDLE(Comm, MPI_Comm)
SHOAL_FORTRAN_HANDLE(Errhandler, MPI_Errhandler)
SHOAL_FORTRAN_HANDLE(File, MPI_File)
SHOAL_FORTRAN_HANDLE(Group, MPI_Group)
SHOAL_FORTRAN_HANDLE(Info, MPI_Info)
SHOAL_FORTRAN_HANDLE(Message, MPI_Message)
SHOAL_FORTRAN_HANDLE(Op, MPI_Op)
SHOAL_FORTRAN_HANDLE(Request, MPI_Request)
SHOAL_FORTRAN_HANDLE(Session, MPI_Session)
SHOAL_FORTRAN_HANDLE(Type, MPI_Datatype)
SHOAL_FORTRAN_HANDLE(Win, MPI_Win)
#undef SHOAL_FORTRAN_HANDLE

template <class T>
concept handle_type = requires(T h) {
  number_of(h);
}
&&std::is_pointer_v<T>;

/// The handle of a number that the program gives.
template <handle_type H>
H handle_at(word at) noexcept {
  H handle;
  take(*static_cast<int*>(at), handle);
  return handle;
}
template <class T>
T value_at(word at) noexcept {
  return *static_cast<T*>(at);
}

/// Where the arguments of a call come from.
struct source {
  const word* next;
  const std::size_t* next_length;
  word take_word() noexcept { return *next++; }
};

/// Addresses of buffers, numbers, statuses.
template <class T>
struct argument {
  explicit argument(source& from) noexcept : at(static_cast<T>(address_of(from.take_word()))) {}
  T get() noexcept { return at; }
  void end() noexcept {}
  T at;
};

template <class T>
requires std::is_arithmetic_v<T>
struct argument<T> {
  explicit argument(source& from) noexcept : value(value_at<T>(from.take_word())) {}
  T get() noexcept { return value; }
  void end() noexcept {}
  T value;
};

template <handle_type H>
struct argument<H> {
  explicit argument(source& from) noexcept : handle(handle_at<H>(from.take_word())) {}
  H get() noexcept { return handle; }
  void end() noexcept {}
  H handle;
};

/// One handle that the function changes or makes. Arrays of handles are not regular.
template <handle_type H>
struct argument<H*> {
  explicit argument(source& from) noexcept : at(static_cast<int*>(from.take_word())) { take(*at, handle); }
  H* get() noexcept { return &handle; }
  void end() noexcept { *at = number_of(handle); }
  int* at;
  H handle;
};

/// Without the blanks at its end.
inline std::string text_of(const char* at, std::size_t length) {
  std::string_view text(at, length);
  return std::string(text.substr(0, std::min(text.find('\0'), text.find_last_not_of(' ') + 1)));
}

/// Fills the rest with blanks.
inline void give_text(std::string_view text, char* at, std::size_t length) noexcept {
  const std::size_t n = std::min(text.size(), length);
  std::memcpy(at, text.data(), n);
  std::memset(at + n, ' ', length - n);
}

template <>
struct argument<const char*> {
  explicit argument(source& from) {
    const char* const at = static_cast<const char*>(from.take_word());
    text = text_of(at, *from.next_length++);
  }
  const char* get() noexcept { return text.c_str(); }
  void end() noexcept {}
  std::string text;
};

/// A text that the function gives; what the function leaves alone stays as it is.
template <>
struct argument<char*> {
  explicit argument(source& from) : at(static_cast<char*>(from.take_word())), length(*from.next_length++) {
    text.assign(at, length);
    text.resize(std::max<std::size_t>(length, MPI_MAX_LIBRARY_VERSION_STRING) + 1);
  }
  char* get() noexcept { return text.data(); }
  void end() noexcept { give_text(text.c_str(), at, length); }
  char* at;
  std::size_t length;
  std::string text;
};

inline void report(int* ierror, int code) noexcept {
  if (ierror != nullptr) *ierror = code;  // it is optional in mpi_f08
}

/// Calls a function of C with the arguments of a Fortran call; `lengths` are those of its texts.
template <class... A>
void call(int* ierror, int (*function)(A...), const word* arguments, const std::size_t* lengths = nullptr) {
  [[maybe_unused]] source from{arguments, lengths};
  std::tuple<argument<A>...> all{argument<A>(from)...};  // from left to right
  const int code = std::apply([&](auto&... each) { return function(each.get()...); }, all);
  std::apply([](auto&... each) { (each.end(), ...); }, all);
  report(ierror, code);
}

}  // namespace shoal::rank::fortran

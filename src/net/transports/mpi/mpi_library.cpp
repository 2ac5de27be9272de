// SPDX-License-Identifier: Apache-2.0
#include "net/transports/mpi/mpi_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <shoal/error.hpp>

namespace shoal::net {
namespace {

// What the library reads when it starts; the user's own choice goes before.
void prefer_settings() {
#ifdef OPEN_MPI
  // A buffer in one piece: beyond this limit sender and receiver talk first.
  ::setenv("OMPI_MCA_btl_vader_eager_limit", "32768", 0);
  ::setenv("OMPI_MCA_btl_vader_max_send_size", "65536", 0);
#endif
}

void finalize() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Finalize();
}

}  // namespace

std::string mpi_reason(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("error {}", code);
  return {text, static_cast<std::size_t>(length)};
}

void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) throw error(errc::system, fmt::format("MPI could not {}: {}", what, mpi_reason(code)));
}

mpi_library& mpi_library::started() {
  static mpi_library library;
  return library;
}

mpi_library::mpi_library() {
  int running = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Finalized(&ended);
  if (ended != 0)
    throw error(errc::unsupported,
                "this program has called MPI_Finalize, and MPI cannot be started twice; end Shoal's "
                "job before, or choose another --transport");
  MPI_Initialized(&running);
  if (running != 0) {
    MPI_Query_thread(&level);
  } else {
    prefer_settings();
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "start");
    std::atexit(finalize);
  }
  if (level < MPI_THREAD_SERIALIZED)
    throw error(errc::unsupported,
                "MPI runs at a level where only one thread may use it; call MPI_Init_thread with "
                "MPI_THREAD_SERIALIZED or more, or let Shoal start MPI, or choose another --transport");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  int* bound = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &known);
  if (known != 0) last_tag_ = *bound;
}

MPI_Comm mpi_library::communicator(unsigned number) {
  const std::lock_guard guard(lock_);
  while (communicators_.size() <= number) {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &made), "make a communicator");
    check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "return errors");
    communicators_.push_back(made);
  }
  return communicators_[number];
}

int mpi_library::take_tags(int count) {
  const std::lock_guard guard(lock_);
  if (count > last_tag_ - next_tag_)
    throw error(errc::exhausted, fmt::format("this process has opened so many networks that MPI's {} tags are used up; "
                                             "start a new process",
                                             last_tag_));
  const int first = next_tag_;
  next_tag_ += count;
  return first;
}

std::string mpi_library::describe() {
  const std::lock_guard guard(lock_);
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, static_cast<std::size_t>(length));
  line.resize(std::min(line.size(), line.find_first_of(",\n")));
  if (const auto colon = line.find(" Version:"); colon != line.npos)  // "MPICH Version:<tab>4.0.2"
    line.replace(colon, line.find_first_not_of(" \t", colon + 9) - colon, " ");
  return line;
}

}  // namespace shoal::net

// SPDX-License-Identifier: Apache-2.0
#include "net/transports/mpi/mpi_library.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shoal/error.hpp>
#include <thread>

namespace shoal::net {
namespace {

// May be asked before MPI is started.
std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

// What the library reads when it starts, where the user has not chosen; gone again afterwards. A buffer travels in one
// piece: beyond a limit sender and receiver talk first, or it is cut.
class preferred_settings {
public:
  preferred_settings() {
#ifdef OPEN_MPI
    prefer("OMPI_MCA_btl_vader_eager_limit", "32768");
    prefer("OMPI_MCA_btl_vader_max_send_size", "65536");
#else
    // Measured: what MPICH has for processes of one machine takes twice the time of UCX's.
    if (library_version().find("ch4:ucx") == std::string::npos) return;
    prefer("MPIR_CVAR_NOLOCAL", "1");
    if (std::getenv("UCX_TLS") == nullptr) prefer("UCX_MM_SEG_SIZE", "32768");
#endif
  }
  ~preferred_settings() {
    for (const char* name : made_) ::unsetenv(name);
  }
  preferred_settings(const preferred_settings&) = delete;
  preferred_settings& operator=(const preferred_settings&) = delete;

private:
  void prefer(const char* name, const char* value) {
    if (std::getenv(name) != nullptr) return;
    ::setenv(name, value, 1);
    made_.push_back(name);
  }
  std::vector<const char*> made_;
};

// Ends the process, with its own status, if it does not end by itself in time.
class end_limit {
public:
  explicit end_limit(int status) : thread_([this, status] { wait(status); }) {}
  ~end_limit() {
    {
      const std::lock_guard guard(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  end_limit(const end_limit&) = delete;
  end_limit& operator=(const end_limit&) = delete;

private:
  static constexpr std::chrono::seconds k_limit{5};
  void wait(int status) {
    std::unique_lock guard(mutex_);
    if (changed_.wait_for(guard, k_limit, [this] { return ended_; })) return;
    std::fputs("shoal: MPI_Finalize does not end, though all processes are in it; this one leaves\n", stderr);
    std::fflush(nullptr);
    ::_exit(status);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

void finalize(int status, void*) {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  // In MPICH's end over UCX and TCP one waits for another's answer that waits elsewhere already, without looking.
  // All at once makes that rare.
  MPI_Request all_here = MPI_REQUEST_NULL;
  int here = 0;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &all_here) != MPI_SUCCESS) here = 1;
  while (here == 0 && MPI_Test(&all_here, &here, MPI_STATUS_IGNORE) == MPI_SUCCESS && here == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others may compute for long yet
  const end_limit limit(status);
  MPI_Finalize();
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
    const preferred_settings while_it_starts;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "start");
    ::on_exit(finalize, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // check_mpi() reports them
  }
  // Who has started it himself calls it, too, and knows nothing of our lock.
  if (level < (running != 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED))
    throw error(errc::unsupported,
                "MPI runs at a level where only one thread may use it; call MPI_Init_thread with "
                "MPI_THREAD_MULTIPLE, or let Shoal start MPI, or choose another --transport");
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
  std::string line = library_version();
  line.resize(std::min(line.size(), line.find_first_of(",\n")));
  if (const auto gap = line.find(" Version:"); gap != line.npos)  // "MPICH Version:<tab>4.0.2"
    line.erase(gap + 1, line.find_first_not_of(" \t", gap + 9) - gap - 1);
  return line;
}

}  // namespace shoal::net

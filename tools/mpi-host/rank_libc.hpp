// SPDX-License-Identifier: Apache-2.0
// What the C library keeps for a whole process, kept for one rank: the functions of interposed_*.cpp use it in place of
// the library's own. It is looked up where it is used, so a switch between ranks costs nothing; of what belongs to a
// thread (the locale) only ranks that have changed it pay, at their calls of MPI.
// Who may call: the rank's task, and threads that it has made. Nothing here switches tasks.
// Shown by tests/conformance/libc_*.c*.
#pragma once

#include <dlfcn.h>
#include <locale.h>
#include <stdlib.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rank/rank.hpp"

#define SHOAL_INTERPOSED extern "C" [[gnu::visibility("default")]]

namespace shoal::host {

struct exit_handler {
  enum class kind { plain, with_status } of;  // atexit() and destructors; on_exit()
  void* function;
  void* argument;
};

/// How a rank ends.
enum class rank_end { normal, quick, at_once };

/// A destination of standard output or error: whole lines go out, a rank's last one when the rank ends.
struct line_output {
  int descriptor = -1;
  std::string held;         // the line that has begun
  bool in_line = false;     // for standard error: its beginning is out
  bool of_program = false;  // the program has chosen the file: no labels
};

/// What handlers of signals have done to a rank that waits: whether a call like read() goes on (SA_RESTART) or ends.
enum class interruption : std::uint8_t { none, restarts, ends };

/// What setlocale() has set; nullptr: nothing.
struct rank_locale final : rank::thread_setting {
  locale_t of = nullptr;
  std::set<std::string> names;  // that the program knows by their addresses
  void put_aside(const char* function) noexcept override;
  void bring_back() noexcept override;
};

class rank_libc {
public:
  std::mutex mutex;  // of what threads of the rank may use at a time
  int local = 0;
  int world = 0;

  // The copy of the program, as its start object says; nullptr: it has none.
  void* copy = nullptr;
  char*** environment = &own_environment;

  // Environment. The strings live as long as the rank: the program may have kept their addresses.
  char** own_environment = nullptr;
  std::vector<char*> variables;
  std::vector<std::unique_ptr<char[]>> strings;

  // Texts.
  char* token = nullptr;  // strtok
  std::tm broken_time{};
  std::array<char, 64> time_text{};

  // Random numbers; begun at first use.
  bool random_begun = false;
  random_data random{};
  std::array<char, 128> random_state{};
  drand48_data drand48{};

  rank_locale locale;

  // The end.
  rank_end ends = rank_end::normal;
  std::vector<exit_handler> at_exit;
  std::vector<exit_handler> at_quick_exit;
  std::vector<exit_handler> at_thread_exit;  // destructors of the main thread's variables
  bool has_made_threads = false;
  bool has_set_handlers = false;  // of signals, in a process with several ranks
  std::atomic<int> threads{0};    // that it has made and that have not ended; partners: they
  // By a handler that has run. Partners: it, and the thread of sleepers.
  std::atomic<interruption> interrupted{interruption::none};

  line_output out;
  line_output err;

  /// Calls what the program has registered, the last first. exit() in a handler leaves it; call it again then.
  void run_exit_handlers(int status) noexcept;
};

/// Keeps other threads of the rank away, where there are any.
class thread_guard {
public:
  explicit thread_guard(rank_libc& of) : locked_(of.has_made_threads ? &of.mutex : nullptr) {
    if (locked_ != nullptr) locked_->lock();
  }
  ~thread_guard() {
    if (locked_ != nullptr) locked_->unlock();
  }
  thread_guard(const thread_guard&) = delete;
  thread_guard& operator=(const thread_guard&) = delete;

private:
  std::mutex* const locked_;
};

/// One for each rank of the process; once, before the first is asked for. `is_whole_job`: all nodes are simulated here.
void make_rank_libcs(unsigned ranks, bool is_whole_job);
/// A copy of the program that no rank has loaded is every rank's (--shared-globals). Environments stay the ranks' own.
void note_shared_copy(void* handle) noexcept;
void share_copy(rank_libc& with) noexcept;
/// What a copy of the program begins with; many may, none changes it.
char** rank_environment() noexcept;
/// For the C library, in all ranks; nullptr: the machine's. Behind make_rank_libcs(). From any thread.
void set_time_zone(const char* value);
/// Of the rank that calls, from its task or from a thread that it has made; nullptr: the C library's is meant.
rank_libc* calling_libc() noexcept;
rank_libc& libc_of(const rank::rank_state& r) noexcept;
rank_libc& libc_of_number(unsigned local) noexcept;
/// Ranks in this process.
unsigned ranks_here() noexcept;
/// False in a child that fork() has made.
bool in_own_process() noexcept;

/// The next definition behind this one: that of the C library.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Gives each rank's standard output and error a line_output; `label`: lines begin with the rank.
void split_output(bool label);
/// Whether a stream is the standard output or error of the calling rank.
bool is_rank_output(const std::FILE* stream) noexcept;
/// Makes cout, cerr and clog of a copy of a program, there.
void make_streams(void* const (&at)[3]);
/// Writes what the rank has begun.
void finish_output(rank_libc& of);

/// The rank ends: signals do not call its handlers any more, and do not end the process of the other ranks either.
void forget_handlers(rank_libc& of);
/// The same: its thread gets back what setlocale() has changed.
void forget_thread_settings(rank::rank_state& me);
/// Names the rank and the place of what ends the process: SIGSEGV and the like, abort().
void name_faults();

}  // namespace shoal::host

/// What calls of the C library's own function look like.
#define SHOAL_NEXT(name) static auto* const name##_next = shoal::host::next<decltype(::name)>(#name)

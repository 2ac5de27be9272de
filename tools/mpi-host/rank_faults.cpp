// SPDX-License-Identifier: Apache-2.0
// Messages about what ends a process in the middle of a rank: an access that fails, abort(), a wrong instruction. Each names
// the rank, the failing code, and the place in the program that has called it. The process then ends as it would anyway.
#include <execinfo.h>
#include <signal.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "machine/process.hpp"
#include "machine/signals.hpp"
#include "rank/node_ranks.hpp"
#include "sched/stack_overflow.hpp"
#include "sched/worker.hpp"
#include "tools/mpi-host/rank_libc.hpp"

namespace shoal::host {
namespace {

// Between the handler and the code that failed.
constexpr int k_most_frames = 48;

void name_code(machine::signal_line& line, const void* address) {
  Dl_info found{};
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (::dladdr(address, &found) == 0 || found.dli_fname == nullptr) {
    line.text("the code at ").hexadecimal(value);
    return;
  }
  if (found.dli_sname != nullptr) line.text(found.dli_sname).text(" (");
  line.text(found.dli_fname).text("+").hexadecimal(value - reinterpret_cast<std::uintptr_t>(found.dli_fbase));
  if (found.dli_sname != nullptr) line.text(")");
}

// Whether the code is that of the rank's copy: `mark` is an object of it.
bool is_in_copy(const void* address, const void* mark) {
  Dl_info code{};
  Dl_info copy{};
  return mark != nullptr && ::dladdr(address, &code) != 0 && ::dladdr(mark, &copy) != 0 &&
         code.dli_fbase == copy.dli_fbase;
}

bool name_rank(machine::signal_line& line, const sched::started& task) noexcept {
  if (task.local == nullptr) return false;
  line.text("rank ").decimal(static_cast<const rank::rank_state*>(task.local)->world);
  return true;
}

// `failed`: the instruction; nullptr: somewhere in the C library, and only the caller is of interest.
void name_place(machine::signal_line& line, const void* failed) noexcept {
  const rank_libc* const mine = calling_libc();
  const void* const copy = mine != nullptr ? mine->copy : nullptr;
  if (failed != nullptr) {
    line.text("in ");
    name_code(line, failed);
  }
  if (failed == nullptr || !is_in_copy(failed, copy)) {
    std::array<void*, k_most_frames> frames{};
    const int n = ::backtrace(frames.data(), k_most_frames);
    for (int i = 0; i < n; ++i) {
      if (!is_in_copy(frames[static_cast<std::size_t>(i)], copy)) continue;
      line.text(failed != nullptr ? ", called by " : "in ");
      name_code(line, static_cast<const char*>(frames[static_cast<std::size_t>(i)]) - 1);  // the call, not what follows
      break;
    }
  }
  line.text(" (see addr2line -Cfie)");
}

constexpr sched::fault_words k_words{name_rank, name_place,
                                     "give ranks larger stacks (shoal mpirun --stack MIB), or keep large objects "
                                     "elsewhere (malloc)"};

void on_fault(int signal, siginfo_t* info, void* context) {
  const rank_libc* const mine = calling_libc();
  if (mine != nullptr && in_own_process()) {
    machine::signal_line line;
    line.text("shoal: rank ").decimal(mine->world);
    line.text(signal == SIGABRT  ? " has called abort() "
              : signal == SIGFPE ? " has divided by zero, or made another arithmetic error, "
                                 : " has come to a wrong instruction ");
    name_place(line, signal == SIGABRT ? nullptr : machine::failed_instruction(context));
    line.write();
  }
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0 && signal != SIGABRT)
    ::raise(signal);  // else it is repeated, with the right place in a core file
}

std::terminate_handler terminate_before = nullptr;

// Messages of other processes are delivered where nothing can catch an exception. What a rank itself does not catch ends
// by abort(), which names it.
[[noreturn]] void on_terminate() {
  sched::worker* const w = sched::this_worker();
  if (w != nullptr && in_own_process() && rank::current_rank() == nullptr) try {
      if (const std::exception_ptr thrown = std::current_exception(); thrown != nullptr) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      const int first = rank::ranks_of(*w).at(0).world;
      machine::signal_line line;
      line.text("shoal: the process of ").text(ranks_here() == 1 ? "rank " : "ranks ").decimal(first);
      if (ranks_here() > 1) line.text(" to ").decimal(first + static_cast<int>(ranks_here()) - 1);
      line.text(
              " has no memory left for a message that has come to it; give it more, or let fewer messages wait "
              "for their receives")
          .write();
      machine::exit_now(MPI_ERR_NO_MEM);
    } catch (...) {
    }
  terminate_before();
  ::abort();
}

}  // namespace

void name_faults() {
  terminate_before = std::set_terminate(on_terminate);
  std::array<void*, 2> frames{};
  ::backtrace(frames.data(), static_cast<int>(frames.size()));  // loads what it needs
  sched::set_fault_words(&k_words);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGABRT, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
}

}  // namespace shoal::host

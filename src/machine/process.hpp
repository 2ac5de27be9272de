// SPDX-License-Identifier: Apache-2.0
// Other processes: starting them so that they never outlive their parent, waiting for several at once, and saying how
// one ended. Also this process: its number, its program. Who may call: any thread, at set-up and in tools. Never
// switches tasks. Guarantees: spawn() throws if the program cannot be started (errc::not_found names it), also when
// only exec fails. The child gets SIGKILL when the *thread* that spawned it ends, so spawn from a thread that lasts
// (the main one); a parent that died before the child could ask for this is noticed too. Descriptors that are marked
// close-on-exec do not reach the child unless listed in `inherited`, where they keep their numbers. No signal is
// blocked in the child. spawn() and become() end the ignoring of SIGCHLD in this process, which would lose the statuses
// of children. Shown by tests/unit/machine/process_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::machine {

struct exit_status {
  int code = 0;    // what the program returned, if signal is 0
  int signal = 0;  // what ended it

  bool clean() const noexcept { return code == 0 && signal == 0; }
  /// What a shell would show: the code, or 128 plus the signal.
  int shell_code() const noexcept { return signal != 0 ? 128 + signal : code; }
};

/// "killed by signal 9 (SIGKILL)", "exited with status 3", "ended normally".
std::string describe(const exit_status& status);

struct spawn_request {
  std::vector<std::string> arguments;    // the program first; looked up in PATH if it has no slash
  std::vector<std::string> environment;  // "NAME=value", added to this process's or replacing
  std::vector<int> inherited;            // descriptors that stay open in the child
  int standard_output = -1;              // a descriptor to use instead of ours
  int standard_error = -1;
  int standard_input = -1;
};

/// A child. Its descriptor becomes readable when it has ended. Destroying a child that has not been reaped kills it.
class child_process {
public:
  child_process() = default;
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  ~child_process();

  int pid() const noexcept { return pid_; }
  int descriptor() const noexcept { return descriptor_; }
  bool running() const noexcept { return pid_ > 0; }

  /// False if it has ended already.
  bool kill(int signal) const noexcept;
  /// Waits for the end and takes the status; the object is empty afterwards.
  exit_status reap();

private:
  friend child_process spawn(const spawn_request& request);
  int pid_ = -1;
  int descriptor_ = -1;
};

child_process spawn(const spawn_request& request);

/// The file that spawn() would start: a name with a slash is itself, another one is looked up in PATH; a name that is
/// not there comes back as it is.
std::string find_program(const std::string& name);

/// The name and the arguments with which this process was started.
std::vector<std::string> own_command();

/// What `ps` and `top` show of this process, its first 15 letters. On the main thread.
void name_process(const std::string& name) noexcept;

/// What this process becomes or starts from now on finds its memory at the same addresses each time, as far as the
/// system lets it.
void fix_addresses() noexcept;

/// Makes this process that program (exec), with "NAME=value" added to its environment. Returns only by throwing.
[[noreturn]] void become(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);

/// Waits until one of the descriptors is readable; its index, or -1 if the time is over. Negative time: for ever.
/// Negative descriptors are skipped. Works on those of open_process(), on eventfds, pipes and sockets alike.
int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns);

/// A descriptor that wait_any reports as ready after wake() has been called, on any thread.
class wake_descriptor {
public:
  wake_descriptor();
  ~wake_descriptor();
  wake_descriptor(const wake_descriptor&) = delete;
  wake_descriptor& operator=(const wake_descriptor&) = delete;
  int descriptor() const noexcept { return descriptor_; }
  void wake() const noexcept;
  /// Not ready any more, until the next wake().
  void clear() const noexcept;

private:
  int descriptor_;
};

/// Ends this process at once: no destructors, no exit handlers.
[[noreturn]] void exit_now(int status) noexcept;

/// A descriptor of a process that need not be a child; -1 if there is none such (any more). The caller closes it.
int open_process(int pid) noexcept;
void close_descriptor(int descriptor) noexcept;

/// Calls f(status) when the program calls exit(), or returns from main(). Once more per call.
void call_at_exit(void (*f)(int status) noexcept);

int own_pid() noexcept;
/// The file this process runs.
std::string own_executable();

}  // namespace shoal::machine

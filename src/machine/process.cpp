// SPDX-License-Identifier: Apache-2.0
#include "machine/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <shoal/error.hpp>
#include <string_view>
#include <utility>

#include "machine/descriptor.hpp"
#include "machine/process_limits.hpp"

namespace shoal::machine {
namespace {

// What the child writes into the pipe when it cannot become the program: which step failed, and why.
struct failure {
  int step = 0;  // 0: exec, 1: something before
  int cause = 0;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result;
  const auto replaced = [&additions](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    return std::any_of(additions.begin(), additions.end(),
                       [name](std::string_view addition) { return addition.substr(0, addition.find('=')) == name; });
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!replaced(*entry)) result.emplace_back(*entry);
  }
  result.insert(result.end(), additions.begin(), additions.end());
  return result;
}

bool keep_over_exec(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFD);
  return flags >= 0 && ::fcntl(descriptor, F_SETFD, flags & ~FD_CLOEXEC) == 0;
}

// If SIGCHLD is ignored, which a process inherits, the kernel reaps children itself and their statuses are lost.
void keep_statuses() noexcept {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0) return;
  const bool ignored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
  if (ignored) {
    ::signal(SIGCHLD, SIG_DFL);
  } else if ((action.sa_flags & SA_NOCLDWAIT) != 0) {
    action.sa_flags &= ~SA_NOCLDWAIT;
    ::sigaction(SIGCHLD, &action, nullptr);
  }
}

// Runs in the child between fork and exec: only calls that are safe there. Returns only if it failed.
void become(const char* program, char** arguments, char** environment, const spawn_request& request, int parent,
            failure& why) noexcept {
  why.step = 1;
  // The parent may have ended before the request took effect; then this process would never be killed.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != parent) ::_exit(127);
  // exec resets handlers, but one could run before it; ignored signals (nohup) stay ignored.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (request.standard_input >= 0 && ::dup2(request.standard_input, STDIN_FILENO) < 0) return;
  if (request.standard_output >= 0 && ::dup2(request.standard_output, STDOUT_FILENO) < 0) return;
  if (request.standard_error >= 0 && ::dup2(request.standard_error, STDERR_FILENO) < 0) return;
  for (const int descriptor : request.inherited) {
    if (!keep_over_exec(descriptor)) return;
  }
  why.step = 0;
  ::execve(program, arguments, environment);
}

}  // namespace

std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

void name_process(const std::string& name) noexcept {
  constexpr std::size_t k_most_letters = 15;
  std::array<char, k_most_letters + 1> letters{};
  name.copy(letters.data(), k_most_letters);
  ::prctl(PR_SET_NAME, letters.data());
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/bin:/bin";
  for (;;) {
    const auto colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    std::string candidate = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return name;
    path.remove_prefix(colon + 1);
  }
}

std::string describe(const exit_status& status) {
  if (status.signal != 0) {
    const char* const name = ::sigabbrev_np(status.signal);
    return fmt::format("killed by signal {} (SIG{})", status.signal, name != nullptr ? name : "?");
  }
  return status.code == 0 ? std::string("ended normally") : fmt::format("exited with status {}", status.code);
}

child_process::child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

child_process::~child_process() {
  if (!running()) return;
  kill(SIGKILL);
  reap();
}

bool child_process::kill(int signal) const noexcept {
  return running() && ::kill(pid_, signal) == 0;  // not reaped yet, so the number is still this child's
}

exit_status child_process::reap() {
  exit_status result;
  if (!running()) return result;
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  close_descriptor(descriptor_);
  pid_ = descriptor_ = -1;
  if (reaped < 0) return {127, 0};  // somebody else has reaped it: its status is not known
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.code = WEXITSTATUS(status);
  }
  return result;
}

child_process spawn(const spawn_request& request) {
  if (request.arguments.empty()) throw error(errc::invalid_argument, "there is no program to start; name one");
  keep_statuses();
  // Before fork: allocating in the child is not allowed.
  const std::string program = find_program(request.arguments.front());
  const std::vector<std::string> environment = merged_environment(request.environment);
  std::vector<char*> argument_list = pointers(request.arguments);
  std::vector<char*> environment_list = pointers(environment);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    throw error(errc::system, fmt::format("cannot start {}: {}; check ulimit -n", program, std::strerror(errno)));
  }
  for (int& end : report) end = above_standard(end);
  if (report[0] < 0 || report[1] < 0) {
    for (const int end : report) close_descriptor(end);
    throw error(errc::system, fmt::format("cannot start {}: no descriptor is free; check ulimit -n", program));
  }
  const int parent = own_pid();
  // No handler of ours may run in the child before it has reset them.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int fork_cause = errno;
  if (pid == 0) {
    failure why;
    become(program.c_str(), argument_list.data(), environment_list.data(), request, parent, why);
    why.cause = errno;
    if (::write(report[1], &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(report[1]);
  if (pid < 0) {
    ::close(report[0]);
    throw error(errc::system,
                fmt::format("cannot start {} ({}): {}", program, std::strerror(fork_cause), describe_process_limits()));
  }
  child_process child;
  child.pid_ = pid;
  failure why;
  ssize_t got = 0;
  do {
    got = ::read(report[0], &why, sizeof why);  // ends when exec closes the other end
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (got == static_cast<ssize_t>(sizeof why)) {
    const bool missing = why.step == 0 && (why.cause == ENOENT || why.cause == ENOTDIR);
    child.reap();
    throw error(missing ? errc::not_found : errc::system,
                fmt::format("cannot start {}: {}; {}", request.arguments.front(), std::strerror(why.cause),
                            why.step != 0 ? "a descriptor it was to inherit is not open"
                            : missing     ? "is the name right, and is it in PATH?"
                                          : "is it a program for this machine, and may you run it?"));
  }
  child.descriptor_ = open_process(pid);
  if (child.descriptor_ < 0) {
    const int cause = errno;
    if (cause == ENOSYS)
      throw error(errc::unsupported, fmt::format("cannot watch process {}; Linux 5.3 or later is needed", pid));
    throw error(errc::system, fmt::format("cannot watch process {}: {}; check ulimit -n", pid, std::strerror(cause)));
  }
  return child;
}

void fix_addresses() noexcept {
  constexpr unsigned long k_ask = 0xffffffff;
  const int present = ::personality(k_ask);
  if (present >= 0) ::personality(static_cast<unsigned long>(present) | ADDR_NO_RANDOMIZE);
}

void become(const std::vector<std::string>& arguments, const std::vector<std::string>& additions) {
  const std::string program = find_program(arguments.front());
  const std::vector<std::string> environment = merged_environment(additions);
  keep_statuses();  // the program's own children
  ::execve(program.c_str(), pointers(arguments).data(), pointers(environment).data());
  throw error(
      errno == ENOENT ? errc::not_found : errc::system,
      fmt::format("cannot start {}: {}; is the name right, and may you run it?", program, std::strerror(errno)));
}

int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) {
  std::vector<pollfd> watched;
  watched.reserve(descriptors.size());
  for (const int descriptor : descriptors) watched.push_back({descriptor, POLLIN, 0});
  const int ready = poll_for(watched, timeout_ns);
  if (ready == 0) return -1;
  if (ready < 0)
    throw error(errc::system, fmt::format("cannot wait for {} descriptors: {}; check ulimit -n", watched.size(),
                                          std::strerror(errno)));
  const auto first = std::find_if(watched.begin(), watched.end(), [](const pollfd& one) { return one.revents != 0; });
  return static_cast<int>(first - watched.begin());
}

int open_process(int pid) noexcept {
  return above_standard(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // close-on-exec by definition
}

void close_descriptor(int descriptor) noexcept {
  if (descriptor >= 0) ::close(descriptor);
}

int own_pid() noexcept { return ::getpid(); }

std::string own_executable() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw error(errc::system, "cannot find this program's own file; is /proc mounted?");
  return {path.data(), static_cast<std::size_t>(length)};
}

wake_descriptor::wake_descriptor() : descriptor_(above_standard(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (descriptor_ < 0)
    throw error(errc::system, fmt::format("cannot make a descriptor to wake a thread with ({}); check ulimit -n",
                                          std::strerror(errno)));
}

wake_descriptor::~wake_descriptor() { ::close(descriptor_); }

void wake_descriptor::wake() const noexcept {
  const std::uint64_t one = 1;
  // Fails only when it is ready already.
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

void wake_descriptor::clear() const noexcept {
  std::uint64_t count = 0;
  // Fails only when it was not ready.
  [[maybe_unused]] const auto got = ::read(descriptor_, &count, sizeof count);
}

// Not by _exit(), which a program that hosts others may have replaced.
void exit_now(int status) noexcept {
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

void call_at_exit(void (*f)(int status) noexcept) {
  static_cast<void>(::on_exit([](int status, void* of) { reinterpret_cast<void (*)(int) noexcept>(of)(status); },
                              reinterpret_cast<void*>(f)));
}

}  // namespace shoal::machine

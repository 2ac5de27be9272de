// SPDX-License-Identifier: Apache-2.0
#include "machine/signals.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shoal/detail/assert.hpp>
#include <shoal/error.hpp>

#include "machine/descriptor.hpp"

namespace shoal::machine {
namespace {

constexpr std::size_t k_handler_bytes = std::size_t{64} << 10;

// Handlers reach nothing but statics. Partner of each atomic: the handler that loads it, on any thread.
std::atomic<fault_hook> g_fault_hook{nullptr};
std::atomic<int> g_interruption_descriptor{-1};
std::atomic<int> g_interruption_signal{0};
static_assert(std::atomic<fault_hook>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Written before the handler is installed, read by it.
struct sigaction g_earlier_segv {};
struct sigaction g_earlier_bus {};
bool g_fault_handler_installed = false;
std::mutex g_fault_mutex;

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& earlier = signal == SIGBUS ? g_earlier_bus : g_earlier_segv;
  if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != nullptr) {
    earlier.sa_sigaction(signal, info, context);
    return;
  }
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
    earlier.sa_handler(signal);
    return;
  }
  // Returning repeats the instruction, which now dies the default way, with the right place in the core file. A signal
  // sent by kill() does not repeat, so it is sent again.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const fault_hook hook = g_fault_hook.load(std::memory_order_acquire);
  if (hook != nullptr && info->si_code > 0) hook(info->si_addr, context);
  errno = saved_errno;
  pass_on(signal, info, context);
}

void on_interruption(int signal) {
  const int saved_errno = errno;
  int none = 0;
  g_interruption_signal.compare_exchange_strong(none, signal);
  const std::uint64_t one = 1;
  const int descriptor = g_interruption_descriptor.load();
  if (descriptor >= 0 && ::write(descriptor, &one, sizeof one) < 0) {
    // The counter is full, so it is readable all the same.
  }
  errno = saved_errno;
}

void install_fault_handler(int signal, struct sigaction& earlier) {
  ::sigaction(signal, nullptr, &earlier);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

void catch_interruption(int signal, struct sigaction& earlier) {
  ::sigaction(signal, nullptr, &earlier);
  if (earlier.sa_handler == SIG_IGN) return;  // a background job that the shell protects
  struct sigaction action {};
  action.sa_handler = on_interruption;
  action.sa_flags = SA_ONSTACK | SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

handler_stack::handler_stack() {
  const std::size_t frame = round_up(::getauxval(AT_MINSIGSTKSZ), page_size());
  mapping_ = mapping::reserve(k_handler_bytes + frame + page_size(), page_size());
  if (::mprotect(data(), size_bytes(), PROT_READ | PROT_WRITE) != 0) {
    const int cause = errno;
    throw error(errc::system, fmt::format("no stack for signal handlers ({}); {}", std::strerror(cause),
                                          describe_address_space_limits()));
  }
}

std::byte* handler_stack::data() const noexcept { return mapping_.data() + page_size(); }
std::size_t handler_stack::size_bytes() const noexcept { return mapping_.size() - page_size(); }

alternate_stack::alternate_stack(const handler_stack& memory) noexcept : bottom_(memory.data()) {
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size_bytes();
  in_use_ = ::sigaltstack(&stack, &earlier_) == 0;
}

alternate_stack::~alternate_stack() {
  stack_t now{};
  if (in_use_ && ::sigaltstack(nullptr, &now) == 0 && now.ss_sp == bottom_) ::sigaltstack(&earlier_, nullptr);
}

void set_fault_hook(fault_hook hook) {
  const std::lock_guard lock(g_fault_mutex);
  g_fault_hook.store(hook, std::memory_order_release);
  if (hook != nullptr && !g_fault_handler_installed) {
    install_fault_handler(SIGSEGV, g_earlier_segv);
    install_fault_handler(SIGBUS, g_earlier_bus);
    g_fault_handler_installed = true;
  } else if (hook == nullptr && g_fault_handler_installed) {
    ::sigaction(SIGSEGV, &g_earlier_segv, nullptr);
    ::sigaction(SIGBUS, &g_earlier_bus, nullptr);
    g_fault_handler_installed = false;
  }
}

bool is_at_stack_end(const void* address, const void* context) noexcept {
  constexpr std::uint64_t k_largest_frame_bytes = std::uint64_t{64} << 10;
  constexpr std::uint64_t k_above_bytes = k_largest_frame_bytes;  // a function may begin with the far end of its frame
  const auto& machine_state = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto pointer = static_cast<std::uint64_t>(machine_state.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const std::uint64_t pointer = machine_state.sp;
#else
#error "where is the stack pointer?"
#endif
  return reinterpret_cast<std::uintptr_t>(address) - (pointer - k_largest_frame_bytes) <
         k_largest_frame_bytes + k_above_bytes;
}

const void* failed_instruction(const void* context) noexcept {
  const auto& machine_state = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine_state.gregs[REG_RIP]);
#else
  return reinterpret_cast<const void*>(machine_state.pc);
#endif
}

signal_line& signal_line::text(std::string_view part) noexcept {
  const std::size_t fits = std::min(part.size(), text_.size() - 1 - length_);
  std::copy_n(part.data(), fits, text_.data() + length_);
  length_ += fits;
  return *this;
}

signal_line& signal_line::decimal(std::int64_t value) noexcept {
  std::array<char, 20> digits;
  std::size_t first = digits.size();
  std::uint64_t rest = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  do {
    digits[--first] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) text("-");
  return text({digits.data() + first, digits.size() - first});
}

signal_line& signal_line::hexadecimal(std::uint64_t value) noexcept {
  std::array<char, 18> digits;
  std::size_t first = digits.size();
  do {
    digits[--first] = "0123456789abcdef"[value % 16];
    value /= 16;
  } while (value != 0);
  digits[--first] = 'x';
  digits[--first] = '0';
  return text({digits.data() + first, digits.size() - first});
}

void signal_line::write(int descriptor) noexcept {
  const int saved_errno = errno;
  text_[length_++] = '\n';
  for (std::size_t done = 0; done < length_;) {
    const ssize_t rc = ::write(descriptor, text_.data() + done, length_ - done);
    if (rc < 0 && errno != EINTR) break;
    if (rc > 0) done += static_cast<std::size_t>(rc);
  }
  length_ = 0;
  errno = saved_errno;
}

interruption::interruption() : descriptor_(above_standard(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (descriptor_ < 0) {
    throw error(errc::system,
                fmt::format("no descriptor for interruptions: {}; check ulimit -n", std::strerror(errno)));
  }
  int none = -1;
  const bool alone = g_interruption_descriptor.compare_exchange_strong(none, descriptor_);
  SHOAL_ASSERT(alone, "one interruption at a time in a process");
  g_interruption_signal.store(0);
  catch_interruption(SIGINT, earlier_interrupt_);
  catch_interruption(SIGTERM, earlier_terminate_);
}

interruption::~interruption() {
  ::sigaction(SIGINT, &earlier_interrupt_, nullptr);
  ::sigaction(SIGTERM, &earlier_terminate_, nullptr);
  g_interruption_descriptor.store(-1);
  ::close(descriptor_);
}

int interruption::signal() const noexcept { return g_interruption_signal.load(); }

}  // namespace shoal::machine

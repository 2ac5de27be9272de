// SPDX-License-Identifier: Apache-2.0
#include "machine/signals.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "in_child.hpp"
#include "machine/process.hpp"

namespace shoal::machine {
namespace {

// What a forked child writes to standard error, and how it ends.
struct outcome {
  int status = -1;
  std::string text;
};

template <class Function>
outcome watch(Function&& function) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  outcome result;
  result.status = in_child([&] {
    ::dup2(ends[1], 2);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    // As in a program without a sanitizer, whose own handlers would end the process in their own way.
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGBUS, SIG_DFL);
    return function();
  });
  ::close(ends[1]);
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    result.text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  return result;
}

bool killed_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

void tell_address(void* address, void* context) {
  signal_line line;
  line.text("fault at ").decimal(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)));
  line.text(context != nullptr ? " with context" : " without context").write();
}

int touch(std::uintptr_t address) {
  *reinterpret_cast<volatile char*>(address) = 1;
  return 0;
}

TEST(signals, a_line_is_put_together_without_the_library) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  errno = 1234;
  signal_line line;
  line.text("a ").decimal(0).text(" ").decimal(-42).text(" ").decimal(INT64_MIN).text(" ").hexadecimal(0).hexadecimal(
      UINT64_MAX);
  line.write(ends[1]);
  EXPECT_EQ(errno, 1234);
  line.text(std::string(5000, 'x')).write(ends[1]);
  ::close(ends[1]);
  std::array<char, 8192> text{};
  std::string all;
  for (ssize_t got = 0; (got = ::read(ends[0], text.data(), text.size())) > 0;) {
    all.append(text.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  const std::string first = "a 0 -42 -9223372036854775808 0x00xffffffffffffffff\n";
  EXPECT_EQ(all.substr(0, first.size()), first);
  EXPECT_EQ(all.size(), first.size() + 1024);
  EXPECT_EQ(all.back(), '\n');
}

TEST(signals, the_hook_sees_the_address_and_the_default_action_follows) {
  const outcome result = watch([] {
    const handler_stack memory;
    const alternate_stack stack(memory);
    set_fault_hook(tell_address);
    return touch(4656);
  });
  EXPECT_TRUE(killed_by(result.status, SIGSEGV)) << result.status;
  EXPECT_EQ(result.text, "fault at 4656 with context\n");
}

TEST(signals, a_bus_error_is_a_fault_too) {
  const outcome result = watch([] {
    set_fault_hook(tell_address);
    const int descriptor = ::memfd_create("empty", 0);
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return touch(reinterpret_cast<std::uintptr_t>(page));
  });
  EXPECT_TRUE(killed_by(result.status, SIGBUS)) << result.status;
  EXPECT_EQ(result.text.substr(0, 9), "fault at ");
}

// Recursion without an end, which the compiler may neither see through nor turn into a loop.
__attribute__((noinline, no_sanitize("address"))) int descend(volatile char* above) {
  if (above == nullptr) return 0;
  volatile char frame[4096];
  frame[0] = *above;
  frame[4095] = static_cast<char>(frame[0] + 1);
  return descend(frame) + frame[4095];
}

TEST(signals, an_exhausted_stack_is_told_from_the_alternate_one) {
  const outcome result = watch([] {
    std::thread overflowing([] {
      const handler_stack memory;
      const alternate_stack stack(memory);
      set_fault_hook([](void*, void*) { signal_line().text("out of stack").write(); });
      volatile char start = 0;
      descend(&start);
    });
    overflowing.join();
    return 0;
  });
  EXPECT_TRUE(killed_by(result.status, SIGSEGV)) << result.status;
  EXPECT_EQ(result.text, "out of stack\n");
}

TEST(signals, the_earlier_handler_comes_after_the_hook) {
  const outcome result = watch([] {
    struct sigaction earlier {};
    earlier.sa_handler = [](int) {
      signal_line().text("earlier").write();
      ::_exit(5);
    };
    ::sigaction(SIGSEGV, &earlier, nullptr);
    set_fault_hook([](void*, void*) { signal_line().text("hook").write(); });
    return touch(4656);
  });
  EXPECT_TRUE(exited_with(result.status, 5)) << result.status;
  EXPECT_EQ(result.text, "hook\nearlier\n");
}

TEST(signals, taking_the_hook_back_restores_what_was_there) {
  const outcome result = watch([] {
    set_fault_hook(tell_address);
    set_fault_hook(nullptr);
    return touch(4656);
  });
  EXPECT_TRUE(killed_by(result.status, SIGSEGV)) << result.status;
  EXPECT_EQ(result.text, "");
}

TEST(signals, a_fault_signal_sent_by_hand_kills_without_the_hook) {
  const outcome result = watch([] {
    set_fault_hook(tell_address);
    ::kill(::getpid(), SIGSEGV);
    return 0;
  });
  EXPECT_TRUE(killed_by(result.status, SIGSEGV)) << result.status;
  EXPECT_EQ(result.text, "");
}

TEST(signals, an_alternate_stack_is_large_and_given_back) {
  stack_t before{};
  ::sigaltstack(nullptr, &before);
  {
    const handler_stack memory;
    const alternate_stack stack(memory);
    EXPECT_TRUE(stack.in_use());
    EXPECT_GE(memory.size_bytes(), std::size_t{64} << 10);
    stack_t now{};
    ::sigaltstack(nullptr, &now);
    EXPECT_EQ(now.ss_sp, memory.data());
    EXPECT_EQ(now.ss_size, memory.size_bytes());
  }
  stack_t after{};
  ::sigaltstack(nullptr, &after);
  EXPECT_EQ(after.ss_sp, before.ss_sp);
  EXPECT_EQ(after.ss_flags, before.ss_flags);
}

TEST(signals, an_interruption_is_readable_and_the_second_one_kills) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = in_child([signal] {
      const interruption stop;
      const std::array<int, 1> descriptors{stop.descriptor()};
      if (stop.signal() != 0 || wait_any(descriptors, 0) != -1) return 1;
      ::raise(signal);
      if (stop.signal() != signal || wait_any(descriptors, 1'000'000'000) != 0) return 2;
      ::raise(signal);
      return 3;
    });
    EXPECT_TRUE(killed_by(status, signal)) << status;
  }
}

TEST(signals, the_end_of_an_interruption_restores_what_was_there) {
  const int status = in_child([] {
    { const interruption stop; }
    ::raise(SIGINT);
    return 0;
  });
  EXPECT_TRUE(killed_by(status, SIGINT)) << status;
}

TEST(signals, what_the_shell_ignores_stays_ignored) {
  const int status = in_child([] {
    ::signal(SIGINT, SIG_IGN);
    const interruption stop;
    ::raise(SIGINT);
    return stop.signal();
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
}

}  // namespace
}  // namespace shoal::machine

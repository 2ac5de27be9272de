// SPDX-License-Identifier: Apache-2.0
#include "machine/executor.hpp"

#include <pthread.h>

#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "machine/activity_thread.hpp"
#include "machine/process.hpp"

namespace shoal::machine {
namespace {

class system_thread final : public executor::thread {
public:
  explicit system_thread(std::thread t) noexcept : thread_(std::move(t)) {}
  system_thread(const system_thread&) = delete;
  system_thread& operator=(const system_thread&) = delete;
  ~system_thread() override { join(); }
  void join() noexcept override {
    if (thread_.joinable()) thread_.join();
  }

private:
  std::thread thread_;
};

class thread_executor final : public executor {
public:
  std::uint64_t now_ns() noexcept override { return base::now_ns(); }
  bool has_real_clock() noexcept override { return true; }
  futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                    bool shared) noexcept override {
    return futex_wait(word, expected, timeout_ns, shared);
  }
  int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept override {
    return futex_wake(word, count, shared);
  }
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override {
    return machine::wait_any(descriptors, timeout_ns);
  }
  void yield() noexcept override { yield_processor(); }
  unsigned processors() noexcept override { return std::thread::hardware_concurrency(); }
  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override {
    constexpr std::size_t k_longest_name = 15;  // of the kernel
    if (name.size() > k_longest_name) name.resize(k_longest_name);
    return std::make_unique<system_thread>(std::thread([name = std::move(name), body = std::move(body)] {
      ::pthread_setname_np(::pthread_self(), name.c_str());
      body();
    }));
  }
};

class timer_interruption final : public executor::interruption {
public:
  timer_interruption(thread_timer::action act, void* data, std::uint64_t first_ns) : timer_(act, data, first_ns) {}

private:
  thread_timer timer_;
};

constinit thread_executor g_threads;

}  // namespace

std::unique_ptr<activity_runner> executor::make_runner(std::string name, activity& what) {
  return std::make_unique<activity_thread>(*this, std::move(name), what);
}

void executor::spend_ns(std::uint64_t ns) noexcept {
  const std::uint64_t until =
      base::ticks() + static_cast<std::uint64_t>(static_cast<double>(ns) * 1e-3 * base::ticks_per_us());
  while (static_cast<std::int64_t>(until - base::ticks()) > 0) continue;
}

std::unique_ptr<executor::interruption> executor::interrupt(thread_timer::action act, void* data,
                                                            std::uint64_t first_ns) {
  return std::make_unique<timer_interruption>(act, data, first_ns);
}

executor& threads() noexcept { return g_threads; }

}  // namespace shoal::machine

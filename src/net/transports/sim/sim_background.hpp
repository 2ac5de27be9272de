// SPDX-License-Identifier: Apache-2.0
// The executor that runs activities of a simulated machine: the machine's own, but that its threads are in the
// background: they do not keep the others from being at an end.
// Who may call: threads of the simulated machine. Test: tests/unit/net/sim_executor_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/transports/sim/sim_executor.hpp"

namespace shoal::net {

class sim_executor::background final : public machine::executor {
public:
  explicit background(sim_executor& by) noexcept : by_(by) {}
  std::uint64_t now_ns() noexcept override { return by_.now_ns(); }
  machine::futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                             bool shared) noexcept override {
    return by_.wait(word, expected, timeout_ns, shared);
  }
  int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept override {
    return by_.wake(word, count, shared);
  }
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override {
    return by_.wait_any(descriptors, timeout_ns);
  }
  void yield() noexcept override { by_.yield(); }
  unsigned processors() noexcept override { return 0; }
  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override {
    return by_.add(std::move(name), std::move(body), true);
  }

private:
  sim_executor& by_;
};

}  // namespace shoal::net

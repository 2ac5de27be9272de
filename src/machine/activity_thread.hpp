// SPDX-License-Identifier: Apache-2.0
// The runner that gives an activity a thread of its executor, which sleeps between ticks: on a word, or, where the
// activity waits for descriptors, on those and one of its own. Who may call: executor::make_runner().
// Guarantees: those of activity_runner. Shown by tests/unit/machine/executor_test.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/executor.hpp"
#include "machine/notification.hpp"
#include "machine/process.hpp"

namespace shoal::machine {

class activity_thread final : public activity_runner {
public:
  activity_thread(executor& by, std::string name, activity& what);
  activity_thread(const activity_thread&) = delete;
  activity_thread& operator=(const activity_thread&) = delete;
  ~activity_thread() override;

  void start() override;
  void notify() noexcept override;
  void stop() noexcept override;

private:
  void run() noexcept;
  void sleep(std::int64_t limit_ns) noexcept;

  executor& executor_;
  const std::string name_;
  activity& activity_;
  notification<> told_;
  std::optional<wake_descriptor> wake_;  // where the activity waits for descriptors
  std::vector<int> watched_;
  std::atomic<bool> stopping_{false};  // partner: stop()
  std::unique_ptr<executor::thread> thread_;
};

}  // namespace shoal::machine

// SPDX-License-Identifier: Apache-2.0
// The end of a program that a command runs for its user: waited for beside Ctrl-C, and as a sentence.
// Ctrl-C on a terminal reaches the program, too. One that goes on after k_pass_on_ns, as when the signal was sent to
// this process alone, is sent the same signal. It may take its time to end: a second Ctrl-C ends this process at once,
// and with it the program (machine/signals.hpp).
// Who may call: the thread that has spawned the program. Never switches tasks; wait() blocks. Test:
// tests/unit/machine/program_end_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "base/clock.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"

namespace shoal::machine {

class program_end {
public:
  static constexpr std::int64_t k_pass_on_ns = 2'000'000'000;

  /// Both outlive this; `stop` may be nullptr.
  program_end(const child_process& program, const interruption* stop) noexcept : program_(program), stop_(stop) {}

  /// Waits for so long at most, negative: as long as it takes. True: it has ended.
  bool wait(std::int64_t timeout_ns) {
    const std::uint64_t begin_ns = base::now_ns();
    const auto left_ns = [&] {
      if (timeout_ns < 0) return std::numeric_limits<std::int64_t>::max();
      return std::max<std::int64_t>(0, timeout_ns - static_cast<std::int64_t>(base::now_ns() - begin_ns));
    };
    for (;;) {
      const bool will_pass_on = pass_on_at_ns_ != 0 && !passed_on_;
      std::int64_t step_ns = left_ns();
      if (will_pass_on)
        step_ns =
            std::min(step_ns, std::max<std::int64_t>(0, static_cast<std::int64_t>(pass_on_at_ns_ - base::now_ns())));
      const bool has_stopped = stop_ == nullptr || pass_on_at_ns_ != 0;
      const std::array<int, 2> descriptors{program_.descriptor(), has_stopped ? -1 : stop_->descriptor()};
      const int ready = wait_any(descriptors, step_ns);
      if (ready == 0) return true;
      if (ready == 1) {
        pass_on_at_ns_ = base::now_ns() + static_cast<std::uint64_t>(k_pass_on_ns);
      } else if (will_pass_on && base::now_ns() >= pass_on_at_ns_) {
        program_.kill(stop_->signal());
        passed_on_ = true;
      } else if (left_ns() == 0) {
        return false;
      }
    }
  }

private:
  const child_process& program_;
  const interruption* stop_;
  std::uint64_t pass_on_at_ns_ = 0;  // 0: no signal has come yet
  bool passed_on_ = false;
};

/// "the program was killed by signal 11 (SIGSEGV)", "the program exited with status 3".
inline std::string describe_program(const exit_status& status) {
  return std::string("the program ") + (status.signal != 0 ? "was " : "") + describe(status);
}

}  // namespace shoal::machine

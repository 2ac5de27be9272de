// SPDX-License-Identifier: Apache-2.0
// Injected noise: delays in which a worker does nothing useful, to see how much of it a program bears. The setting
// `inject` says where and how long, parts joined by '+':
//   EVENT:DELAY   EVENT: operation | message | first_touch | quantum(TIME) | replay
//                 DELAY: constant(TIME) | uniform(TIME,TIME) | recorded(FILE)
//   inject=message:uniform(128ns,1024ns)+quantum(1ms):constant(20us)
// operation: each operation that another node asks for, where it is executed. message: each message to another node.
// first_touch: each page of global memory, when it is taken. quantum: a timer interrupts each worker once in TIME.
// replay: the timer interrupts when the recorded detours came, for as long as they took, and begins again at the end; its
// DELAY is recorded(FILE). Files are those of `shoal noise --raw`; each worker replays one processor's. Workers draw
// sequences of their own, by seed, node and number. TIME is a number of nanoseconds, or has a unit: ns, us, ms, s.
// Who may call: see below. Delays are spent looking at the clock, on a simulated machine in virtual time: nothing switches
// tasks. Errors: shoal::error says what is wrong in the setting or file. Test: tests/unit/noise/injection_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/executor.hpp"
#include "shoal/random.hpp"

namespace shoal::noise {

enum class injected_at : std::uint8_t { operation, message, first_touch, timer };
inline constexpr std::array<std::string_view, 4> k_injected_names{"operations", "messages", "first touches", "timers"};
/// The events of the setting, in the order of injected_at; the last two are both the timer's.
inline constexpr std::array<std::string_view, 5> k_injection_events{"operation", "message", "first_touch", "quantum",
                                                                    "replay"};

/// From the begin of a recording.
struct recorded_delay {
  std::uint64_t begin_ns = 0;
  std::uint64_t ns = 0;
};

struct delay_source {
  enum class kind : std::uint8_t { none, constant, uniform, recorded } is = kind::none;
  std::uint64_t low_ns = 0, high_ns = 0;              // not of recorded
  std::vector<std::vector<recorded_delay>> recorded;  // by processor, none empty
  std::uint64_t period_ns = 0;                        // of a timer; 0: when they were recorded
};

/// What a setting says; read by all workers, changed by none.
struct injection_plan {
  std::array<delay_source, 4> at;  // by injected_at
  std::uint64_t seed = 1;
  std::uint64_t signature = 0;  // of the delays and the seed: who has the same injects the same

  bool any() const noexcept;
};

injection_plan parse_injection(std::string_view text, std::uint64_t seed);
/// Throws if the plan needs a timer and the system has none left. Else the first worker would find out.
void require_timer(const injection_plan& plan);

/// What was injected; any thread may read.
struct injected_sum {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> ns{0};
};

/// Of one worker. All but the sums belongs to its thread, the timer's part to the handler on that thread.
class injector {
public:
  /// `by`: whose clock the delays take; outlives it.
  injector(const injection_plan& plan, std::uint32_t node, unsigned worker, machine::executor& by = machine::threads());

  /// `times` delays, as one.
  void delay(injected_at where, std::uint64_t times) noexcept;
  const injected_sum& sum(injected_at where) const noexcept { return sums_[static_cast<std::size_t>(where)]; }

  /// Makes the calling thread this worker's until its end, and starts the timer, if there is one.
  class attachment {
  public:
    explicit attachment(injector& of);
    ~attachment();
    attachment(const attachment&) = delete;
    attachment& operator=(const attachment&) = delete;

  private:
    std::unique_ptr<machine::executor::interruption> timer_;
  };

private:
  static std::uint64_t interrupt(void* of) noexcept;
  std::uint64_t draw(injected_at where) noexcept;
  void spend(injected_at where, std::uint64_t ns, std::uint64_t times) noexcept;

  const injection_plan& plan_;
  unsigned worker_;
  machine::executor& executor_;
  std::array<xoshiro256ss, 4> random_;
  std::array<std::size_t, 4> next_{};  // of recorded ones
  std::array<injected_sum, 4> sums_;
};

namespace detail {
extern std::atomic<unsigned> g_attached;  // injectors
void inject(injected_at where, std::uint64_t times) noexcept;
}  // namespace detail

/// What the library calls where such an event happens, on a worker's thread. Without injection it tests a variable.
inline void passes(injected_at where, std::uint64_t times = 1) noexcept {
  if (detail::g_attached.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::inject(where, times);
}

}  // namespace shoal::noise

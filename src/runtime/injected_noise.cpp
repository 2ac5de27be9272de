// SPDX-License-Identifier: Apache-2.0
#include "runtime/injected_noise.hpp"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.hpp"

namespace shoal::runtime {
namespace {

using base::setting;
using base::setting_type;

constexpr setting k_injection_table[] = {
    {.name = "inject",
     .type = setting_type::text,
     .default_value = "",
     .help =
         "injected noise: EVENT:DELAY, joined by +, as in message:uniform(128ns,1024ns)+quantum(1ms):constant(20us); "
         "events operation, message, first_touch, quantum(TIME), replay; delays constant(TIME), uniform(TIME,TIME), "
         "recorded(FILE of shoal noise --raw)"},
    {.name = "inject_seed",
     .type = setting_type::integer,
     .default_value = "1",
     .help = "of the random delays",
     .min = "0",
     .max = "1000000000000"},
};

class injected_noise {
public:
  injected_noise(std::shared_ptr<const noise::injection_plan> plan, std::uint32_t node, machine::executor& by)
      : plan_(std::move(plan)), node_(node), executor_(by) {
    if (by.has_real_clock()) noise::require_timer(*plan_);
  }
  injected_noise(const injected_noise&) = delete;
  injected_noise& operator=(const injected_noise&) = delete;
  // The report, which `shoal noise --inject` reads.
  ~injected_noise() {
    std::string text;
    for (std::size_t i = 0; i < noise::k_injected_names.size(); ++i) {
      if (plan_->at[i].is == noise::delay_source::kind::none) continue;
      std::uint64_t count = 0, ns = 0;
      for (const noise::injector& w : workers_) {
        const noise::injected_sum& sum = w.sum(static_cast<noise::injected_at>(i));
        count += sum.count.load(std::memory_order_relaxed);
        ns += sum.ns.load(std::memory_order_relaxed);
      }
      text += fmt::format("{}{} {}, {:.3f} ms in all, {:.0f} ns each", text.empty() ? "" : "; ", count,
                          noise::k_injected_names[i], static_cast<double>(ns) * 1e-6,
                          count == 0 ? 0.0 : static_cast<double>(ns) / static_cast<double>(count));
    }
    base::say("node {}: injected noise: {}; seed {}, signature {:016x}", node_, text, plan_->seed, plan_->signature);
  }

  noise::injector& of_worker(unsigned worker) {
    const std::lock_guard hold(lock_);
    return workers_.emplace_back(*plan_, node_, worker, executor_);
  }

private:
  const std::shared_ptr<const noise::injection_plan> plan_;
  const std::uint32_t node_;
  machine::executor& executor_;
  std::mutex lock_;
  std::deque<noise::injector> workers_;
};

}  // namespace

const base::setting_table k_injection_settings{"runtime", k_injection_table};

std::shared_ptr<const noise::injection_plan> read_injection(const base::settings& s) {
  noise::injection_plan plan =
      noise::parse_injection(s.get_text("inject"), static_cast<std::uint64_t>(s.get_int("inject_seed")));
  return plan.any() ? std::make_shared<const noise::injection_plan>(std::move(plan)) : nullptr;
}

std::function<std::shared_ptr<void>(unsigned worker)> around_injected_threads(
    std::shared_ptr<const noise::injection_plan> plan, std::uint32_t node, machine::executor& by) {
  return [all = std::make_shared<injected_noise>(std::move(plan), node, by)](unsigned worker) -> std::shared_ptr<void> {
    return std::make_shared<noise::injector::attachment>(all->of_worker(worker));
  };
}

}  // namespace shoal::runtime

// SPDX-License-Identifier: Apache-2.0
#include "noise/injection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "base/setting_value.hpp"
#include "base/thread_value.hpp"
#include "shoal/error.hpp"

namespace shoal::noise {
namespace {

constexpr double k_longest_ns = 1e10;
thread_local injector* t_injector = nullptr;
const base::thread_value k_injector_of_thread(+[]() noexcept { return &t_injector; });

[[noreturn]] void refuse(std::string_view part, const std::string& why) {
  throw error(errc::invalid_argument,
              fmt::format("inject: '{}': {}; parts are EVENT:DELAY, joined by +, with an EVENT of operation, message, "
                          "first_touch, quantum(TIME) or replay, and a DELAY of constant(TIME), uniform(TIME,TIME) or "
                          "recorded(FILE), as in message:uniform(128ns,1024ns)",
                          part, why));
}

std::uint64_t time_of(std::string_view text, std::string_view part) {
  const std::optional<double> ns = base::parse_time_ns(text);
  if (!ns) refuse(part, fmt::format("'{}' is no time such as 500ns, 20us or 1ms", text));
  if (*ns > k_longest_ns) refuse(part, fmt::format("a time of {} is not between 0 and 10 s", text));
  return static_cast<std::uint64_t>(*ns);
}

// "name(arguments)" or "name".
std::pair<std::string_view, std::string_view> call_of(std::string_view text, std::string_view part) {
  const auto open = text.find('(');
  if (open == std::string_view::npos) return {text, {}};
  if (text.back() != ')') refuse(part, "a ) is missing");
  return {text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
}

// The detours of `shoal noise --raw`: kind, processor, begin and length in nanoseconds, between tabs.
std::vector<std::vector<recorded_delay>> read_recording(const std::string& path, std::string_view part) {
  std::ifstream file(path);
  if (!file) refuse(part, fmt::format("cannot read '{}'", path));
  std::map<unsigned, std::vector<recorded_delay>> by_processor;
  std::uint64_t first = ~std::uint64_t{0};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("detour\t")) continue;
    std::istringstream words(line.substr(line.find('\t')));
    unsigned processor = 0;
    recorded_delay d;
    if (!(words >> processor >> d.begin_ns >> d.ns) || static_cast<double>(d.ns) > k_longest_ns)
      refuse(part, fmt::format("'{}' has a line that is no detour: {}", path, line));
    by_processor[processor].push_back(d);
    first = std::min(first, d.begin_ns);
  }
  if (by_processor.empty())
    refuse(part, fmt::format("there are no detours in '{}'; record some by shoal noise --raw FILE", path));
  std::vector<std::vector<recorded_delay>> all;
  for (auto& [processor, delays] : by_processor) {
    std::ranges::sort(delays, {}, &recorded_delay::begin_ns);
    for (recorded_delay& d : delays) d.begin_ns -= first;
    all.push_back(std::move(delays));
  }
  return all;
}

delay_source source_of(std::string_view text, std::string_view part) {
  const auto [name, arguments] = call_of(text, part);
  delay_source s;
  if (name == "constant") {
    s.is = delay_source::kind::constant;
    s.low_ns = s.high_ns = time_of(arguments, part);
  } else if (name == "uniform") {
    const auto comma = arguments.find(',');
    if (comma == std::string_view::npos) refuse(part, "uniform takes two times");
    s.is = delay_source::kind::uniform;
    s.low_ns = time_of(arguments.substr(0, comma), part);
    s.high_ns = time_of(arguments.substr(comma + 1), part);
    if (s.high_ns < s.low_ns) refuse(part, "the second time is less than the first");
  } else if (name == "recorded") {
    s.is = delay_source::kind::recorded;
    s.recorded = read_recording(std::string(arguments), part);
  } else {
    refuse(part, fmt::format("there is no delay '{}'", name));
  }
  return s;
}

double mean_ns(const delay_source& s) {
  if (s.is != delay_source::kind::recorded) return (static_cast<double>(s.low_ns) + static_cast<double>(s.high_ns)) / 2;
  double sum = 0;
  double number = 0;
  for (const auto& delays : s.recorded)
    for (const recorded_delay& d : delays) {
      sum += static_cast<double>(d.ns);
      ++number;
    }
  return number > 0 ? sum / number : 0;
}

void take_part(injection_plan& plan, std::string_view part) {
  // A file's name may have a colon, an event has none.
  const auto colon = part.find(':');
  if (colon == std::string_view::npos) refuse(part, "there is no : in it");
  const auto [event, argument] = call_of(part.substr(0, colon), part);
  delay_source source = source_of(part.substr(colon + 1), part);
  const auto which =
      static_cast<std::size_t>(std::ranges::find(k_injection_events, event) - k_injection_events.begin());
  if (which == k_injection_events.size()) refuse(part, fmt::format("there is no event '{}'", event));
  if (event == "quantum") {
    source.period_ns = time_of(argument, part);
    if (source.period_ns < 10'000) refuse(part, "a quantum is at least 10us");
    if (mean_ns(source) >= static_cast<double>(source.period_ns))
      refuse(part, "the delay must be shorter than the quantum: the program would get no time");
  } else if (event == "replay") {
    if (source.is != delay_source::kind::recorded) refuse(part, "replay takes recorded(FILE)");
  }
  delay_source& place = plan.at[std::min(which, static_cast<std::size_t>(injected_at::timer))];
  if (place.is != delay_source::kind::none) refuse(part, "there is another part for this event");
  place = std::move(source);
}

std::uint64_t signature_of(const injection_plan& plan) {
  std::uint64_t sum = mix64(plan.seed);
  const auto add = [&sum](std::uint64_t n) { sum = mix64(sum ^ n); };
  for (const delay_source& s : plan.at) {
    for (const std::uint64_t n : {static_cast<std::uint64_t>(s.is), s.low_ns, s.high_ns, s.period_ns}) add(n);
    for (const auto& delays : s.recorded)
      for (const recorded_delay& d : delays) add(d.begin_ns), add(d.ns);
  }
  return sum;
}

}  // namespace

namespace detail {

std::atomic<unsigned> g_attached{0};

void inject(injected_at where, std::uint64_t times) noexcept {
  if (t_injector != nullptr) t_injector->delay(where, times);
}

}  // namespace detail

bool injection_plan::any() const noexcept {
  return std::ranges::any_of(at, [](const delay_source& s) { return s.is != delay_source::kind::none; });
}

injection_plan parse_injection(std::string_view text, std::uint64_t seed) {
  injection_plan plan;
  plan.seed = seed;
  for (std::string_view rest = text; !rest.empty();) {
    const auto plus = rest.find('+');
    take_part(plan, rest.substr(0, plus));
    if (plus == rest.size() - 1) refuse(text, "nothing follows the last +");
    rest = plus == std::string_view::npos ? std::string_view() : rest.substr(plus + 1);
  }
  plan.signature = signature_of(plan);
  return plan;
}

void require_timer(const injection_plan& plan) {
  if (plan.at[static_cast<std::size_t>(injected_at::timer)].is == delay_source::kind::none) return;
  constexpr std::uint64_t k_never_ns = 1'000'000'000'000;
  const machine::thread_timer one([](void*) noexcept -> std::uint64_t { return 0; }, nullptr, k_never_ns);
}

injector::injector(const injection_plan& plan, std::uint32_t node, unsigned worker, machine::executor& by)
    : plan_(plan),
      worker_(worker),
      executor_(by),
      random_{xoshiro256ss(0), xoshiro256ss(0), xoshiro256ss(0), xoshiro256ss(0)} {
  base::ticks_per_us();  // measured here, and not at first in a handler of signals
  for (std::size_t i = 0; i < random_.size(); ++i) {
    random_[i] = xoshiro256ss(mix64(plan.seed + mix64((std::uint64_t{node} << 32) + worker * 8 + i)));
    // Workers of one processor's recording would all be delayed at the same moments.
    const auto& recorded = plan.at[i].recorded;
    if (!recorded.empty() && (node != 0 || worker >= recorded.size()))
      next_[i] = random_[i].below(recorded[worker % recorded.size()].size());
  }
}

std::uint64_t injector::draw(injected_at where) noexcept {
  const auto i = static_cast<std::size_t>(where);
  const delay_source& s = plan_.at[i];
  switch (s.is) {
    case delay_source::kind::none: return 0;
    case delay_source::kind::constant: return s.low_ns;
    case delay_source::kind::uniform: return s.low_ns + random_[i]() % (s.high_ns - s.low_ns + 1);
    case delay_source::kind::recorded: break;
  }
  const auto& own = s.recorded[worker_ % s.recorded.size()];
  return own[next_[i]++ % own.size()].ns;
}

void injector::spend(injected_at where, std::uint64_t ns, std::uint64_t times) noexcept {
  executor_.spend_ns(ns);
  injected_sum& sum = sums_[static_cast<std::size_t>(where)];  // one writer
  sum.count.store(sum.count.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
  sum.ns.store(sum.ns.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
}

void injector::delay(injected_at where, std::uint64_t times) noexcept {
  if (plan_.at[static_cast<std::size_t>(where)].is == delay_source::kind::none || times == 0) return;
  std::uint64_t ns = 0;
  for (std::uint64_t i = 0; i < times; ++i) ns += draw(where);
  spend(where, ns, times);
}

std::uint64_t injector::interrupt(void* of) noexcept {
  injector& self = *static_cast<injector*>(of);
  const auto i = static_cast<std::size_t>(injected_at::timer);
  const delay_source& s = self.plan_.at[i];
  const std::size_t now = self.next_[i];
  const std::uint64_t ns = self.draw(injected_at::timer);
  self.spend(injected_at::timer, ns, 1);
  if (s.period_ns != 0) return std::max<std::uint64_t>(s.period_ns > ns ? s.period_ns - ns : 0, 1000);
  const auto& own = s.recorded[self.worker_ % s.recorded.size()];
  const recorded_delay& last = own[now % own.size()];
  const recorded_delay& next = own[(now + 1) % own.size()];
  const std::uint64_t end = last.begin_ns + last.ns;
  return std::max<std::uint64_t>(next.begin_ns > end ? next.begin_ns - end : 0, 1000);
}

injector::attachment::attachment(injector& of) {
  t_injector = &of;
  detail::g_attached.fetch_add(1, std::memory_order_relaxed);
  const delay_source& s = of.plan_.at[static_cast<std::size_t>(injected_at::timer)];
  if (s.is == delay_source::kind::none) return;
  // Workers do not all stop at once, as those of one machine would not.
  std::uint64_t first = 0;
  if (s.period_ns != 0) {
    first = of.random_.back()() % s.period_ns;
  } else {
    const auto& own = s.recorded[of.worker_ % s.recorded.size()];
    const std::size_t next = of.next_[static_cast<std::size_t>(injected_at::timer)];
    const std::uint64_t before = next == 0 ? 0 : own[next - 1].begin_ns + own[next - 1].ns;
    first = own[next].begin_ns - std::min(before, own[next].begin_ns);
  }
  timer_ = of.executor_.interrupt(interrupt, &of, first + 1);
}

injector::attachment::~attachment() {
  timer_.reset();
  detail::g_attached.fetch_sub(1, std::memory_order_relaxed);
  t_injector = nullptr;
}

}  // namespace shoal::noise

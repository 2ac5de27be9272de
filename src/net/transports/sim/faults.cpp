// SPDX-License-Identifier: Apache-2.0
#include "net/transports/sim/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/comma_list.hpp"
#include "base/setting_value.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"

namespace shoal::net {
namespace {

constexpr std::array<std::string_view, 4> k_kinds{"stop", "die", "slow", "cut"};
constexpr double k_longest_ns = 1e13;

[[noreturn]] void refuse_fault(std::string_view part, std::string_view why) {
  throw error(errc::invalid_argument,
              fmt::format("sim_faults: '{}': {}; parts are stop(NODE,AT,FOR), die(NODE,AT), slow(A-B,FACTOR,AT,FOR), "
                          "cut(A-B,AT,FOR) and random(COUNT,WITHIN), joined by +, as in stop(3,1ms,500us)",
                          part, why));
}

std::uint64_t fault_time_of(std::string_view text, std::string_view part) {
  const auto ns = base::parse_time_ns(text);
  if (!ns || *ns > k_longest_ns) refuse_fault(part, fmt::format("'{}' is no time such as 500us, 1ms or 2s", text));
  return static_cast<std::uint64_t>(std::llround(*ns * 1e3));
}

std::uint32_t node_of(std::string_view text, std::string_view part) {
  const auto number = base::parse_int(text);
  constexpr std::int64_t k_most = 1'000'000;
  if (!number || *number < 0 || *number > k_most) refuse_fault(part, fmt::format("'{}' is no node", text));
  return static_cast<std::uint32_t>(*number);
}

void take_link(sim_fault& f, std::string_view text, std::string_view part) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) refuse_fault(part, fmt::format("'{}' is no link such as 0-1 or 0-*", text));
  f.node = node_of(text.substr(0, dash), part);
  const std::string_view other = text.substr(dash + 1);
  if (other != "*") f.other = node_of(other, part);
  if (f.other == f.node) refuse_fault(part, "a link is between two nodes");
}

void take_part(sim_fault_plan& plan, std::string_view part) {
  const std::size_t open = part.find('(');
  if (open == std::string_view::npos) refuse_fault(part, "there is no (");
  if (part.back() != ')') refuse_fault(part, "there is no ) at its end");
  const std::string_view name = part.substr(0, open);
  const auto given = base::split_list(part.substr(open + 1, part.size() - open - 2));
  const auto expect = [&](std::size_t least, std::size_t most) {
    if (given.size() < least || given.size() > most) refuse_fault(part, "it has too few or too many arguments");
  };
  if (name == "random") {
    expect(2, 2);
    const auto count = base::parse_int(given[0]);
    constexpr std::int64_t k_most = 1000;
    if (!count || *count < 0 || *count > k_most)
      refuse_fault(part, fmt::format("'{}' is no number between 0 and {}", given[0], k_most));
    if (plan.random_within_ps != 0) refuse_fault(part, "there is another random(COUNT,WITHIN); give one for both");
    plan.random = static_cast<unsigned>(*count);
    plan.random_within_ps = fault_time_of(given[1], part);
    if (plan.random_within_ps == 0) refuse_fault(part, "WITHIN is more than 0");
    return;
  }
  const auto* const found = std::ranges::find(k_kinds, name);
  if (found == k_kinds.end()) refuse_fault(part, fmt::format("there is no fault '{}'", name));
  sim_fault f;
  f.what = static_cast<sim_fault::kind>(found - k_kinds.begin());
  std::size_t at = 1;
  switch (f.what) {
    case sim_fault::kind::stop: expect(2, 3); break;
    case sim_fault::kind::die: expect(2, 2); break;
    case sim_fault::kind::slow: expect(3, 4); break;
    case sim_fault::kind::cut: expect(2, 3); break;
  }
  if (f.is_of_link())
    take_link(f, given[0], part);
  else
    f.node = node_of(given[0], part);
  if (f.what == sim_fault::kind::slow) {
    const auto factor = base::parse_real(given[at++]);
    constexpr double k_most = 1e6;
    if (!factor || !(*factor >= 1 && *factor <= k_most)) refuse_fault(part, "a factor is between 1 and a million");
    f.factor = *factor;
  }
  f.from_ps = fault_time_of(given[at++], part);
  if (at < given.size()) f.until_ps = f.from_ps + fault_time_of(given[at], part);
  plan.faults.push_back(f);
}

// Those of a node that overlap become one, so that they are apart; `all` are in the order of their begin.
std::vector<sim_fault> apart(const std::vector<sim_fault>& all) {
  std::vector<sim_fault> result;
  std::unordered_map<std::uint32_t, std::size_t> last;  // by node: its index in the result
  for (const sim_fault& f : all) {
    const auto before = f.is_of_link() ? last.end() : last.find(f.node);
    if (before == last.end() || result[before->second].until_ps <= f.from_ps) {
      if (!f.is_of_link()) last[f.node] = result.size();
      result.push_back(f);
      continue;
    }
    sim_fault& b = result[before->second];
    if (f.what == sim_fault::kind::die && b.what != sim_fault::kind::die) {  // it stops until it dies
      b.until_ps = f.from_ps;
      last[f.node] = result.size();
      result.push_back(f);
    } else {
      b.until_ps = std::max(b.until_ps, f.until_ps);
    }
  }
  return result;
}

sim_fault draw(std::uint64_t seed, std::uint64_t number, std::uint32_t nodes, std::uint64_t within_ps) {
  constexpr std::uint64_t k_draws = 8;
  std::uint64_t drawn = number * k_draws;
  const auto below = [&](std::uint64_t limit) {
    return limit == 0 ? 0 : splitmix64::at(seed ^ 0xfa17, ++drawn) % limit;
  };
  constexpr std::array k_drawn{sim_fault::kind::stop, sim_fault::kind::slow, sim_fault::kind::cut};
  sim_fault f;
  f.what = nodes < 2 ? sim_fault::kind::stop : k_drawn[below(k_drawn.size())];
  f.node = static_cast<std::uint32_t>(below(nodes));
  if (f.is_of_link()) f.other = static_cast<std::uint32_t>((f.node + 1 + below(nodes - 1)) % nodes);
  if (f.what == sim_fault::kind::slow) f.factor = static_cast<double>(2 + below(63));
  f.from_ps = below(within_ps);
  f.until_ps = f.from_ps + 1 + below(within_ps / 4);
  return f;
}

std::string describe_time(std::uint64_t ps) {
  constexpr std::pair<const char*, std::uint64_t> k_units[] = {
      {"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}};
  for (const auto& [unit, in_ps] : k_units)
    if (ps >= in_ps) return fmt::format("{:.10g}{}", static_cast<double>(ps) / static_cast<double>(in_ps), unit);
  return fmt::format("{:.10g}ns", static_cast<double>(ps) * 1e-3);
}

}  // namespace

sim_fault_plan parse_sim_faults(std::string_view text) {
  sim_fault_plan plan;
  while (!text.empty()) {
    const std::size_t plus = text.find('+');
    const std::string_view part = base::trim(text.substr(0, plus));
    if (part.empty() || plus == text.size() - 1) refuse_fault(text, "something is missing beside a +");
    take_part(plan, part);
    text.remove_prefix(plus == std::string_view::npos ? text.size() : plus + 1);
  }
  return plan;
}

std::vector<sim_fault> faults_of(const sim_fault_plan& plan, std::uint32_t nodes, std::uint64_t seed) {
  std::vector<sim_fault> all = plan.faults;
  for (const sim_fault& f : all)
    if (f.node >= nodes || (f.other && *f.other >= nodes))
      throw error(errc::invalid_argument,
                  fmt::format("sim_faults: '{}': there are {} nodes, whose numbers begin with 0", describe(f), nodes));
  for (unsigned i = 0; i < plan.random; ++i) all.push_back(draw(seed, i, nodes, plan.random_within_ps));
  std::ranges::stable_sort(all, {}, &sim_fault::from_ps);
  return apart(all);
}

std::string describe(const sim_fault& f) {
  std::string text = fmt::format("{}({}", k_kinds[static_cast<std::size_t>(f.what)], f.node);
  if (f.is_of_link()) text += f.other ? fmt::format("-{}", *f.other) : "-*";
  if (f.what == sim_fault::kind::slow) text += fmt::format(",{}", f.factor);
  text += fmt::format(",{}", describe_time(f.from_ps));
  if (f.until_ps != k_never_ps) text += fmt::format(",{}", describe_time(f.until_ps - f.from_ps));
  return text + ")";
}

}  // namespace shoal::net

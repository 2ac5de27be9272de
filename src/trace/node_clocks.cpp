// SPDX-License-Identifier: Apache-2.0
#include "trace/node_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "trace/message_key.hpp"

namespace shoal::trace {
namespace {

template <class Use>
void for_each_message(const std::vector<node_trace>& nodes, Use use) {
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (std::uint32_t w = 0; w < nodes[n].workers.size(); ++w)
      for (const event& e : nodes[n].workers[w])
        if (const auto end = end_of_message(nodes[n].form.node, w, e); end) use(n, end->key, end->is_send, e);
}

// The processors of a machine count in step: one line for all its nodes, of the one with the longest time between its
// ends, so that rounding does not change the order of events.
std::vector<node_clock> make_clocks(const std::vector<node_trace>& nodes) {
  std::vector<node_clock> clocks;
  std::map<std::string, std::size_t> measured_by;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto length = [&](std::size_t i) { return nodes[i].end.raw_ns - nodes[i].begin.raw_ns; };
    const auto [at, is_new] = measured_by.try_emplace(nodes[n].form.machine, n);
    const node_trace& before = nodes[at->second];
    if (nodes[n].is_whole && (!before.is_whole || length(n) > length(at->second))) at->second = n;
  }
  const node_trace& reference = nodes[measured_by.at(nodes.front().form.machine)];
  for (const node_trace& t : nodes) {
    const node_trace& line = nodes[measured_by.at(t.form.machine)];
    node_clock c{line.ns_per_tick(), static_cast<double>(line.begin.raw_ns), line.begin.ticks};
    if (line.form.machine != reference.form.machine)
      c.at_begin = static_cast<double>(reference.begin.raw_ns) +
                   static_cast<double>(static_cast<std::int64_t>(line.begin.world_ns - reference.begin.world_ns));
    clocks.push_back(c);
  }
  return clocks;
}

// A message from a to b says: b's clock may be late by no more than its time of travel. The middle between what
// messages of both directions allow is taken, machine by machine, against the first.
void align_machines(const std::vector<node_trace>& nodes, std::vector<node_clock>& clocks) {
  const std::string& reference = nodes.front().form.machine;
  std::map<message_key, std::pair<std::size_t, double>> sent;  // node, ns
  for_each_message(nodes, [&](std::size_t n, const message_key& key, bool is_send, const event& e) {
    if (is_send) sent[key] = {n, clocks[n].ns(e.ticks)};
  });
  std::map<std::string, std::pair<double, double>> bounds;  // of the shift: at least, at most
  for_each_message(nodes, [&](std::size_t n, const message_key& key, bool is_send, const event& e) {
    if (is_send) return;
    const auto at = sent.find(key);
    if (at == sent.end()) return;
    const std::string& from = nodes[at->second.first].form.machine;
    const std::string& to = nodes[n].form.machine;
    const double travel = clocks[n].ns(e.ticks) - at->second.second;
    constexpr double k_none = std::numeric_limits<double>::infinity();
    if (from == reference && to != reference) {
      auto& b = bounds.try_emplace(to, -k_none, k_none).first->second;
      b.first = std::max(b.first, -travel);
    } else if (to == reference && from != reference) {
      auto& b = bounds.try_emplace(from, -k_none, k_none).first->second;
      b.second = std::min(b.second, travel);
    }
  });
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto at = bounds.find(nodes[n].form.machine);
    if (at == bounds.end()) continue;
    const auto [least, most] = at->second;
    if (std::isfinite(least) && std::isfinite(most))
      clocks[n].shift = (least + most) / 2;
    else if (std::isfinite(least))
      clocks[n].shift = std::max(least, 0.0);
    else if (std::isfinite(most))
      clocks[n].shift = std::min(most, 0.0);
  }
}

}  // namespace

std::vector<node_clock> aligned_clocks(const std::vector<node_trace>& nodes) {
  std::vector<node_clock> clocks = make_clocks(nodes);
  const std::string& machine = nodes.front().form.machine;
  const bool is_one = std::ranges::all_of(nodes, [&](const node_trace& t) { return t.form.machine == machine; });
  if (!is_one) align_machines(nodes, clocks);
  return clocks;
}

}  // namespace shoal::trace

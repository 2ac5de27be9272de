// SPDX-License-Identifier: Apache-2.0
// Traces made by hand.
#pragma once

#include <cstdint>
#include <string>

#include "trace/trace_file.hpp"

namespace shoal::trace {

// Ticks are nanoseconds here.
inline node_trace node(std::uint32_t number, const std::string& machine = "a", std::uint64_t raw = 1000,
                       std::uint64_t world = 0) {
  node_trace t;
  t.form.node = number;
  t.form.nodes = 2;
  t.form.machine = machine;
  t.form.program = "program";
  t.begin = {0, raw, world};
  t.end = {10'000, raw + 10'000, world + 10'000};
  t.is_whole = true;
  t.workers.resize(1);
  t.left_out = {0};
  t.code = {{0x10, "first"}, {0x20, "second"}};
  t.names = {{1, "build"}};
  t.waits = {{9, "loop"}, {1, "mutex"}};
  return t;
}
inline event at(std::uint64_t ticks, event_kind kind, std::uint64_t value = 0, std::uint32_t number = 0,
                std::uint16_t small = 0) {
  return {ticks, kind, small, number, value};
}

inline std::pair<node_trace, node_trace> talking(const std::string& other_machine, std::uint64_t other_raw,
                                                 std::uint64_t other_world) {
  node_trace a = node(0);
  node_trace b = node(1, other_machine, other_raw, other_world);
  // Two messages each way, 100 ns of travel; b's ticks begin with a's.
  a.workers[0] = {at(1000, event_kind::send, message_value(64, 0), 1),
                  at(2300, event_kind::receive, message_value(32, 0), 1),
                  at(3000, event_kind::send, message_value(64, 1), 1)};
  b.workers[0] = {
      at(1100, event_kind::receive, message_value(64, 0), 0), at(2200, event_kind::send, message_value(32, 0), 0),
      at(3100, event_kind::receive, message_value(64, 1), 0), at(3200, event_kind::send, message_value(16, 1), 0)};
  return {a, b};
}

}  // namespace shoal::trace

// SPDX-License-Identifier: Apache-2.0
// Sampled stacks as a tree of functions: who has called whom, and how much processor time was found in each (a flame
// graph, after Gregg 2016). As text, as data and script of a page, and as lines that other tools draw.
// Who may call: any thread. Never switches tasks; nothing is written. Test: tests/unit/trace/flame_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trace/timeline.hpp"

namespace shoal::trace {

extern const std::string_view k_flame_script;  // flame.js

struct flame_node {
  std::uint64_t ns = 0;                       // in it and in what it has called
  std::uint64_t self_ns = 0;                  // in it alone
  std::map<std::uint32_t, flame_node> calls;  // by name, of the timeline's words
};
flame_node make_flame(const timeline& t);

/// The functions with the most time of their own. Empty without samples.
std::string flame_text(const timeline& t);
/// A statement that defines what the script draws; empty without samples.
std::string flame_data(const timeline& t);
/// "task;function;function MICROSECONDS" per stack, as flamegraph.pl, speedscope and inferno read it.
std::string folded_stacks(const timeline& t);

}  // namespace shoal::trace
